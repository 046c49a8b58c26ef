# CUDA kernels: one fatbin for all architectures, embedded in the program.
EXTRA_DIST += %D%/kernels.cu

if HAVE_NVCC
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

# Long long, because an array of char need not be aligned for the driver.  The
# first line is for configure, where a release is built without nvcc.
%D%/kernels.c: %D%/kernels.fatbin
	$(AM_V_GEN){ echo '/* $(NVCC_SAYS) */' && \
		$(BIN2C) --const --type longlong --name cs_kernels_fatbin \
			%D%/kernels.fatbin; } >$@.tmp && mv -f $@.tmp $@

-include %D%/kernels.d

CLEANFILES += %D%/kernels.fatbin %D%/kernels.c %D%/kernels.d
endif

# A release carries what nvcc made, or what an earlier release carried.
if HAVE_CUDA
dist-kernels: %D%/kernels.c
	test -d $(distdir)/%D% || $(MKDIR_P) $(distdir)/%D%
	cp -fp `test -f %D%/kernels.c || echo $(srcdir)/`%D%/kernels.c \
		$(distdir)/%D%/kernels.c
else
dist-kernels:
	@test ! -f $(srcdir)/%D%/kernels.c || \
		cp -fp $(srcdir)/%D%/kernels.c $(distdir)/%D%/kernels.c
	@test -f $(srcdir)/%D%/kernels.c || \
		echo "dist: no CUDA here, so no compiled kernels in the tarball: with" \
			"it, the CUDA backend will need nvcc" >&2
endif
dist-hook: dist-kernels
.PHONY: dist-kernels
