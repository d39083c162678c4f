#include "textflag.h"

// Operations of kernel.go that attention alone has.

DATA absolute<>+0(SB)/4, $0x7fffffff
GLOBL absolute<>(SB), RODATA|NOPTR, $4
DATA tiny<>+0(SB)/4, $0x0da24260  // 1e-30
GLOBL tiny<>(SB), RODATA|NOPTR, $4
DATA top<>+0(SB)/4, $0x42fe0000   // 127
GLOBL top<>(SB), RODATA|NOPTR, $4
DATA step<>+0(SB)/4, $0x3c010204  // 1/127
GLOBL step<>(SB), RODATA|NOPTR, $4
DATA one<>+0(SB)/4, $0x3f800000
GLOBL one<>(SB), RODATA|NOPTR, $4
DATA infinity<>+0(SB)/4, $0xff800000 // below all
GLOBL infinity<>(SB), RODATA|NOPTR, $4
DATA byte<>+0(SB)/4, $0xff
GLOBL byte<>(SB), RODATA|NOPTR, $4
DATA half<>+0(SB)/4, $0x007f007f  // halfWeight, twice
GLOBL half<>(SB), RODATA|NOPTR, $4
DATA ones<>+0(SB)/4, $0x01010101
GLOBL ones<>(SB), RODATA|NOPTR, $4

DATA unpack<>+0(SB)/4, $0
DATA unpack<>+4(SB)/4, $4
DATA unpack<>+8(SB)/4, $1
DATA unpack<>+12(SB)/4, $5
DATA unpack<>+16(SB)/4, $2
DATA unpack<>+20(SB)/4, $6
DATA unpack<>+24(SB)/4, $3
DATA unpack<>+28(SB)/4, $7
GLOBL unpack<>(SB), RODATA|NOPTR, $32

// The polynomial of power in portable.go, times topWeight.
DATA power<>+0(SB)/4, $0x4160376b
DATA power<>+4(SB)/4, $0x42767e35
DATA power<>+8(SB)/4, $0x4330169b
DATA power<>+12(SB)/4, $0x437dfb52
DATA power<>+16(SB)/4, $0xc2800000 // -64
GLOBL power<>(SB), RODATA|NOPTR, $20

#define REDUCE(op, shuffle, x, y)        \
	VEXTRACTF128 $1, y, X13              \
	op           X13, x, x               \
	shuffle      $0x4e, x, X13           \
	op           X13, x, x               \
	shuffle      $0xb1, x, X13           \
	op           X13, x, x

// Turns eight exponents less the largest, from memory, into weights as integers, and adds them to the sum in Y14.
#define POWER(address, y, whole)        \
	VMOVUPS     address, y              \
	VSUBPS      Y15, y, y               \
	VMAXPS      Y12, y, y               \
	VCVTPS2DQ   y, whole                \
	VCVTDQ2PS   whole, Y6               \
	VSUBPS      Y6, y, Y6               \
	VMOVAPS     Y11, Y7                 \
	VFMADD213PS Y10, Y6, Y7             \
	VFMADD213PS Y9, Y6, Y7              \
	VFMADD213PS Y8, Y6, Y7              \
	VPSLLD      $23, whole, whole       \
	VPADDD      whole, Y7, Y7           \
	VCVTPS2DQ   Y7, y                   \
	VPADDD      y, Y14, Y14

// func softmaxAVX2(weights []int8, scores []int32, stride int, rows, cols, mask, sums []float32, flip byte)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-153
	MOVQ weights_base+0(FP), DI
	MOVQ scores_base+24(FP), SI
	MOVQ stride+48(FP), DX
	MOVQ rows_base+56(FP), R8
	MOVQ cols_base+80(FP), R9
	MOVQ mask_base+104(FP), R10
	MOVQ sums_base+128(FP), R11
	MOVQ $8, BX

	VBROADCASTSS power<>+0(SB), Y11
	VBROADCASTSS power<>+4(SB), Y10
	VBROADCASTSS power<>+8(SB), Y9
	VBROADCASTSS power<>+12(SB), Y8
	VBROADCASTSS power<>+16(SB), Y12

row:
	VBROADCASTSS (R8), Y0
	VBROADCASTSS infinity<>(SB), Y1
	VMOVAPS      Y1, Y4
	XORQ         CX, CX

exponents:
	VCVTDQ2PS   (SI)(CX*4), Y2
	VCVTDQ2PS   32(SI)(CX*4), Y3
	VMOVUPS     (R10)(CX*4), Y6
	VMOVUPS     32(R10)(CX*4), Y7
	VMULPS      Y0, Y2, Y2
	VMULPS      Y0, Y3, Y3
	VFMADD132PS (R9)(CX*4), Y6, Y2
	VFMADD132PS 32(R9)(CX*4), Y7, Y3
	VMOVUPS     Y2, (SI)(CX*4)
	VMOVUPS     Y3, 32(SI)(CX*4)
	VMAXPS      Y2, Y1, Y1
	VMAXPS      Y3, Y4, Y4
	ADDQ        $16, CX
	CMPQ        CX, DX
	JNE         exponents

	VMAXPS Y4, Y1, Y1
	REDUCE(VMAXPS, VPERMILPS, X1, Y1)
	VBROADCASTSS X1, Y15
	VPXOR        Y14, Y14, Y14
	XORQ         CX, CX

weights:
	POWER((SI)(CX*4), Y0, Y5)
	POWER(32(SI)(CX*4), Y1, Y5)
	POWER(64(SI)(CX*4), Y2, Y5)
	POWER(96(SI)(CX*4), Y3, Y5)
	VPBROADCASTD half<>(SB), Y6
	VMOVDQU      unpack<>(SB), Y7
	VPBROADCASTB flip+152(FP), Y5
	VPACKSSDW    Y1, Y0, Y0
	VPACKSSDW    Y3, Y2, Y2
	VPSUBW       Y6, Y0, Y0
	VPSUBW       Y6, Y2, Y2
	VPACKSSWB    Y2, Y0, Y0
	VPERMD       Y0, Y7, Y0
	VPXOR        Y5, Y0, Y0
	VMOVDQU      Y0, (DI)(CX*1)
	ADDQ         $32, CX
	CMPQ         CX, DX
	JNE          weights

	REDUCE(VPADDD, VPSHUFD, X14, Y14)
	VCVTDQ2PS X14, X14
	VMOVSS    one<>(SB), X13
	VDIVSS    X14, X13, X13
	VMOVSS    X13, (R11)
	ADDQ      DX, DI
	LEAQ      (SI)(DX*4), SI
	ADDQ      $4, R8
	ADDQ      $4, R11
	DECQ      BX
	JNZ       row
	VZEROUPPER
	RET

// func keysAVX2(panel []int8, start []int32, tokens []int8, stride, count, size int, factor int32)
TEXT ·keysAVX2(SB), NOSPLIT, $0-100
	MOVQ panel_base+0(FP), DI
	MOVQ start_base+24(FP), R8
	MOVQ tokens_base+48(FP), SI
	MOVQ stride+72(FP), DX
	MOVQ count+80(FP), R9
	MOVL factor+96(FP), R10

	VPBROADCASTD ones<>(SB), Y15
	VPCMPEQW     Y14, Y14, Y14
	VPABSW       Y14, Y14

token:
	MOVQ  size+88(FP), CX
	MOVQ  SI, BX
	MOVQ  DI, R11
	VPXOR Y2, Y2, Y2

bytes:
	VMOVDQU      (BX), Y0
	VEXTRACTI128 $1, Y0, X1
	VMOVD        X0, (R11)
	VPEXTRD      $1, X0, 128(R11)
	VPEXTRD      $2, X0, 256(R11)
	VPEXTRD      $3, X0, 384(R11)
	VMOVD        X1, 512(R11)
	VPEXTRD      $1, X1, 640(R11)
	VPEXTRD      $2, X1, 768(R11)
	VPEXTRD      $3, X1, 896(R11)
	VPMADDUBSW   Y0, Y15, Y0
	VPMADDWD     Y14, Y0, Y0
	VPADDD       Y0, Y2, Y2
	ADDQ         $32, BX
	ADDQ         $1024, R11
	SUBQ         $32, CX
	JNZ          bytes

	REDUCE(VPADDD, VPSHUFD, X2, Y2)
	VMOVD X2, AX
	IMULL R10, AX
	MOVL  AX, (R8)
	ADDQ  $4, R8
	ADDQ  $4, DI
	ADDQ  DX, SI
	DECQ  R9
	JNZ   token
	VZEROUPPER
	RET

// Quantises eight columns of one row, at address, with the inverse of their scales.
#define QUANTISE(address, inverse, q) \
	VMULPS    address, inverse, q     \
	VCVTPS2DQ q, q

// Quantises eight columns of four rows into one line of the panel; Y12 holds 0xff, Y14 stays with the sums in total.
#define FOUR(column, inverse, total)                  \
	QUANTISE(column(BX), inverse, Y8)                 \
	QUANTISE(column(BX)(DX*1), inverse, Y9)           \
	QUANTISE(column(BX)(DX*2), inverse, Y10)          \
	QUANTISE(column(BX)(R11*1), inverse, Y11)         \
	VPADDD    Y8, total, total                        \
	VPADDD    Y9, total, total                        \
	VPADDD    Y10, total, total                       \
	VPADDD    Y11, total, total                       \
	VPAND     Y12, Y8, Y8                             \
	VPAND     Y12, Y9, Y9                             \
	VPAND     Y12, Y10, Y10                           \
	VPSLLD    $8, Y9, Y9                              \
	VPSLLD    $16, Y10, Y10                           \
	VPSLLD    $24, Y11, Y11                           \
	VPOR      Y9, Y8, Y8                              \
	VPOR      Y11, Y10, Y10                           \
	VPOR      Y10, Y8, Y8                             \
	VMOVDQU   Y8, column(DI)

// Turns the largest numbers of eight columns into their scales, at column of R9, and the scales' inverses.
#define SCALES(largest, column)          \
	VMULPS       Y13, largest, Y8        \
	VMOVUPS      Y8, column(R9)          \
	VMAXPS       Y14, largest, largest   \
	VDIVPS       largest, Y15, largest

// func valuesAVX2(panel []int8, start []int32, cols, x []float32, stride, count int, factor int32)
TEXT ·valuesAVX2(SB), NOSPLIT, $0-116
	MOVQ panel_base+0(FP), DI
	MOVQ start_base+24(FP), R8
	MOVQ cols_base+48(FP), R9
	MOVQ x_base+72(FP), SI
	MOVQ stride+96(FP), DX
	MOVQ count+104(FP), CX
	SHLQ $2, DX
	LEAQ (DX)(DX*2), R11

	VBROADCASTSS absolute<>(SB), Y15
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	VXORPS       Y2, Y2, Y2
	VXORPS       Y3, Y3, Y3
	MOVQ         SI, BX

largest:
	VANDPS (BX), Y15, Y4
	VANDPS 32(BX), Y15, Y5
	VANDPS 64(BX), Y15, Y6
	VANDPS 96(BX), Y15, Y7
	VMAXPS Y4, Y0, Y0
	VMAXPS Y5, Y1, Y1
	VMAXPS Y6, Y2, Y2
	VMAXPS Y7, Y3, Y3
	ADDQ   DX, BX
	DECQ   CX
	JNZ    largest

	VBROADCASTSS tiny<>(SB), Y14
	VBROADCASTSS step<>(SB), Y13
	VBROADCASTSS top<>(SB), Y15
	SCALES(Y0, 0)
	SCALES(Y1, 32)
	SCALES(Y2, 64)
	SCALES(Y3, 96)

	VPBROADCASTD byte<>(SB), Y12
	VPXOR        Y4, Y4, Y4
	VPXOR        Y5, Y5, Y5
	VPXOR        Y6, Y6, Y6
	VPXOR        Y7, Y7, Y7
	MOVQ         count+104(FP), CX
	MOVQ         SI, BX

four:
	FOUR(0, Y0, Y4)
	FOUR(32, Y1, Y5)
	FOUR(64, Y2, Y6)
	FOUR(96, Y3, Y7)
	LEAQ (BX)(DX*4), BX
	ADDQ $128, DI
	SUBQ $4, CX
	JNZ  four

	MOVL         factor+112(FP), AX
	VMOVD        AX, X8
	VPBROADCASTD X8, Y8
	VPMULLD      Y8, Y4, Y4
	VPMULLD      Y8, Y5, Y5
	VPMULLD      Y8, Y6, Y6
	VPMULLD      Y8, Y7, Y7
	VMOVDQU      Y4, (R8)
	VMOVDQU      Y5, 32(R8)
	VMOVDQU      Y6, 64(R8)
	VMOVDQU      Y7, 96(R8)
	VZEROUPPER
	RET
