# CUDA kernels: one fatbin for all architectures, embedded in the program.
EXTRA_DIST += %D%/kernels.cu

if HAVE_CUDA
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =

# Makefile: other flags make other code.
%D%/kernels.fatbin: %D%/kernels.cu Makefile
	$(AM_V_NVCC)$(MKDIR_P) %D% && \
	$(NVCC) -fatbin $(NVCC_GENCODE) $(NVCC_COMPRESS) $(NVCCFLAGS) \
		-I$(top_srcdir)/src -MD -MP -MF %D%/kernels.d -MT $@ \
		-o $@ $(top_srcdir)/%D%/kernels.cu

# Long long, because an array of char need not be aligned for the driver.
%D%/kernels.c: %D%/kernels.fatbin
	$(AM_V_GEN)$(BIN2C) --const --type longlong --name cs_kernels_fatbin \
		%D%/kernels.fatbin >$@.tmp && mv -f $@.tmp $@

-include %D%/kernels.d

CLEANFILES += %D%/kernels.fatbin %D%/kernels.c %D%/kernels.d
endif
