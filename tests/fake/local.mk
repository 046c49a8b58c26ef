# The driver's doubles: the program opens them instead of the real ones.
# Shared objects, which automake builds as programs: there is no libtool here.
fake_cflags = $(WARN_CFLAGS) -pthread -fPIC $(FAKE_SAN_FLAGS)
fake_ldflags = -shared -pthread $(HARD_LDFLAGS) $(FAKE_SAN_FLAGS)

FAKE_DRIVERS = %D%/libnvidia-ml.so.1
check_PROGRAMS += %D%/libnvidia-ml.so.1
%C%_libnvidia_ml_so_1_CFLAGS = $(fake_cflags)
%C%_libnvidia_ml_so_1_LDFLAGS = $(fake_ldflags) -Wl,-soname,libnvidia-ml.so.1
%C%_libnvidia_ml_so_1_LDADD =
%C%_libnvidia_ml_so_1_SOURCES = \
	%D%/identity.h \
	%D%/nvml.c

if HAVE_CUDA
CS_HAVE_CUDA = 1
FAKE_DRIVERS += %D%/libmpi-aware.so
check_PROGRAMS += %D%/libmpi-aware.so
%C%_libmpi_aware_so_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_libmpi_aware_so_CFLAGS = $(fake_cflags)
%C%_libmpi_aware_so_LDFLAGS = $(fake_ldflags)
%C%_libmpi_aware_so_LDADD = $(MPI_LIBS)
%C%_libmpi_aware_so_SOURCES = %D%/aware.c

FAKE_DRIVERS += %D%/libcuda.so.1
check_PROGRAMS += %D%/libcuda.so.1
%C%_libcuda_so_1_CFLAGS = $(fake_cflags)
%C%_libcuda_so_1_LDFLAGS = $(fake_ldflags) -Wl,-soname,libcuda.so.1
%C%_libcuda_so_1_LDADD = -lm
%C%_libcuda_so_1_SOURCES = \
	src/base/chain.c \
	src/base/fma.c \
	src/base/fma_host.c \
	src/base/matmul.c \
	src/base/rng.c \
	$(NOISE) \
	%D%/calls.c \
	%D%/clock.c \
	%D%/cuda.c \
	%D%/cupti.c \
	%D%/disturb.c \
	%D%/fake.h \
	%D%/identity.h \
	%D%/kernels.c \
	%D%/knobs.c \
	%D%/managed.c \
	%D%/memory.c \
	%D%/queue.c \
	%D%/queue.h \
	%D%/signal.c \
	%D%/stream.c \
	%D%/um.c \
	%D%/vmm.c
endif
