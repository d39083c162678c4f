#include "textflag.h"

// Operations of kernel.go on rows of fp32.

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

// Packing works within halves of a register; this undoes it.
DATA unpack<>+0(SB)/4, $0
DATA unpack<>+4(SB)/4, $4
DATA unpack<>+8(SB)/4, $1
DATA unpack<>+12(SB)/4, $5
DATA unpack<>+16(SB)/4, $2
DATA unpack<>+20(SB)/4, $6
DATA unpack<>+24(SB)/4, $3
DATA unpack<>+28(SB)/4, $7
GLOBL unpack<>(SB), RODATA|NOPTR, $32

// The polynomial of geluPortable, from the highest power down.
DATA gelu<>+0(SB)/4, $0xb50fde3f
DATA gelu<>+4(SB)/4, $0x37efd18f
DATA gelu<>+8(SB)/4, $0xba27ed92
DATA gelu<>+12(SB)/4, $0x3c02e3df
DATA gelu<>+16(SB)/4, $0xbd80ecd0
DATA gelu<>+20(SB)/4, $0x3ecb25e6
DATA gelu<>+24(SB)/4, $0x415b0a3d // the square of the polynomial's end
DATA gelu<>+28(SB)/4, $0xbf000000 // -1/2
DATA gelu<>+32(SB)/4, $0x3f000000 // 1/2
GLOBL gelu<>(SB), RODATA|NOPTR, $36

// Reduces a register to one number in its lowest lane, with op; Y13 is overwritten.
#define REDUCE(op, x, y)                 \
	VEXTRACTF128 $1, y, X13              \
	op           X13, x, x               \
	VPERMILPS    $0x4e, x, X13           \
	op           X13, x, x               \
	VPERMILPS    $0xb1, x, X13           \
	op           X13, x, x

// func scaleAVX2(out []float32, stride int, tile []int32, rows, cols, bias []float32)
TEXT ·scaleAVX2(SB), NOSPLIT, $0-128
	MOVQ out_base+0(FP), DI
	MOVQ stride+24(FP), DX
	MOVQ tile_base+32(FP), SI
	MOVQ rows_base+56(FP), R8
	MOVQ cols_base+80(FP), R9
	MOVQ bias_base+104(FP), R10
	SHLQ $2, DX
	MOVQ $8, CX

	VMOVUPS (R9), Y0
	VMOVUPS 32(R9), Y1
	VMOVUPS 64(R9), Y2
	VMOVUPS 96(R9), Y3
	VMOVUPS (R10), Y4
	VMOVUPS 32(R10), Y5
	VMOVUPS 64(R10), Y6
	VMOVUPS 96(R10), Y7

row:
	VBROADCASTSS (R8), Y8
	VCVTDQ2PS    (SI), Y9
	VCVTDQ2PS    32(SI), Y10
	VCVTDQ2PS    64(SI), Y11
	VCVTDQ2PS    96(SI), Y12
	VMULPS       Y8, Y9, Y9
	VMULPS       Y8, Y10, Y10
	VMULPS       Y8, Y11, Y11
	VMULPS       Y8, Y12, Y12
	VFMADD213PS  Y4, Y0, Y9
	VFMADD213PS  Y5, Y1, Y10
	VFMADD213PS  Y6, Y2, Y11
	VFMADD213PS  Y7, Y3, Y12
	VMOVUPS      Y9, (DI)
	VMOVUPS      Y10, 32(DI)
	VMOVUPS      Y11, 64(DI)
	VMOVUPS      Y12, 96(DI)
	ADDQ         $4, R8
	ADDQ         $128, SI
	ADDQ         DX, DI
	DECQ         CX
	JNZ          row
	VZEROUPPER
	RET

// func quantiseAVX2(q []int8, x []float32, size int, scales []float32, flip byte)
TEXT ·quantiseAVX2(SB), NOSPLIT, $0-81
	MOVQ q_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ size+48(FP), DX
	MOVQ scales_base+56(FP), R8
	MOVQ scales_len+64(FP), R9

	VBROADCASTSS absolute<>(SB), Y15
	VMOVDQU      unpack<>(SB), Y14
	VPBROADCASTB flip+80(FP), Y12
	VMOVSS       tiny<>(SB), X11
	VMOVSS       top<>(SB), X10
	VMOVSS       step<>(SB), X9
	TESTQ        R9, R9
	JZ           done

group:
	MOVQ   SI, BX
	MOVQ   DX, CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

largest:
	VANDPS (BX), Y15, Y4
	VANDPS 32(BX), Y15, Y5
	VANDPS 64(BX), Y15, Y6
	VANDPS 96(BX), Y15, Y7
	VMAXPS Y4, Y0, Y0
	VMAXPS Y5, Y1, Y1
	VMAXPS Y6, Y2, Y2
	VMAXPS Y7, Y3, Y3
	ADDQ   $128, BX
	SUBQ   $32, CX
	JNZ    largest

	VMAXPS Y1, Y0, Y0
	VMAXPS Y3, Y2, Y2
	VMAXPS Y2, Y0, Y0
	REDUCE(VMAXPS, X0, Y0)
	VMULSS       X9, X0, X1
	VMOVSS       X1, (R8)
	VMAXSS       X11, X0, X0
	VDIVSS       X0, X10, X0
	VBROADCASTSS X0, Y0
	MOVQ         DX, CX

bytes:
	VMULPS     (SI), Y0, Y4
	VMULPS     32(SI), Y0, Y5
	VMULPS     64(SI), Y0, Y6
	VMULPS     96(SI), Y0, Y7
	VCVTPS2DQ  Y4, Y4
	VCVTPS2DQ  Y5, Y5
	VCVTPS2DQ  Y6, Y6
	VCVTPS2DQ  Y7, Y7
	VPACKSSDW  Y5, Y4, Y4
	VPACKSSDW  Y7, Y6, Y6
	VPACKSSWB  Y6, Y4, Y4
	VPERMD     Y4, Y14, Y4
	VPXOR      Y12, Y4, Y4
	VMOVDQU    Y4, (DI)
	ADDQ       $128, SI
	ADDQ       $32, DI
	SUBQ       $32, CX
	JNZ        bytes

	ADDQ $4, R8
	DECQ R9
	JNZ  group

done:
	VZEROUPPER
	RET

// func geluAVX2(x []float32)
TEXT ·geluAVX2(SB), NOSPLIT, $0-24
	MOVQ x_base+0(FP), DI
	MOVQ x_len+8(FP), CX

	VBROADCASTSS gelu<>+0(SB), Y15
	VBROADCASTSS gelu<>+4(SB), Y14
	VBROADCASTSS gelu<>+8(SB), Y13
	VBROADCASTSS gelu<>+12(SB), Y12
	VBROADCASTSS gelu<>+16(SB), Y11
	VBROADCASTSS gelu<>+20(SB), Y10
	VBROADCASTSS gelu<>+24(SB), Y9
	VBROADCASTSS gelu<>+28(SB), Y8
	VBROADCASTSS gelu<>+32(SB), Y7
	TESTQ        CX, CX
	JZ           done

eight:
	VMOVUPS     (DI), Y0
	VMULPS      Y0, Y0, Y1
	VMINPS      Y9, Y1, Y1
	VMOVAPS     Y15, Y2
	VFMADD213PS Y14, Y1, Y2
	VFMADD213PS Y13, Y1, Y2
	VFMADD213PS Y12, Y1, Y2
	VFMADD213PS Y11, Y1, Y2
	VFMADD213PS Y10, Y1, Y2
	VMULPS      Y0, Y2, Y2
	VMAXPS      Y8, Y2, Y2
	VMINPS      Y7, Y2, Y2
	VADDPS      Y7, Y2, Y2
	VMULPS      Y0, Y2, Y2
	VMOVUPS     Y2, (DI)
	ADDQ        $32, DI
	SUBQ        $8, CX
	JNZ         eight

done:
	VZEROUPPER
	RET

// func normAVX2(x, y, gamma, beta []float32, epsilon float32)
TEXT ·normAVX2(SB), NOSPLIT, $0-100
	MOVQ x_base+0(FP), DI
	MOVQ x_len+8(FP), DX
	MOVQ y_base+24(FP), SI
	MOVQ gamma_base+48(FP), R8
	MOVQ beta_base+72(FP), R9

	VCVTSI2SSQ DX, X15, X15
	VMOVSS     one<>(SB), X14
	VDIVSS     X15, X14, X15     // one over the size
	VXORPS     Y0, Y0, Y0
	VXORPS     Y1, Y1, Y1
	VXORPS     Y2, Y2, Y2
	VXORPS     Y3, Y3, Y3
	XORQ       CX, CX

sum:
	VMOVUPS (DI)(CX*4), Y4
	VMOVUPS 32(DI)(CX*4), Y5
	VMOVUPS 64(DI)(CX*4), Y6
	VMOVUPS 96(DI)(CX*4), Y7
	VADDPS  (SI)(CX*4), Y4, Y4
	VADDPS  32(SI)(CX*4), Y5, Y5
	VADDPS  64(SI)(CX*4), Y6, Y6
	VADDPS  96(SI)(CX*4), Y7, Y7
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	VMOVUPS Y4, (DI)(CX*4)
	VMOVUPS Y5, 32(DI)(CX*4)
	VMOVUPS Y6, 64(DI)(CX*4)
	VMOVUPS Y7, 96(DI)(CX*4)
	ADDQ    $32, CX
	CMPQ    CX, DX
	JNE     sum

	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	VADDPS Y2, Y0, Y0
	REDUCE(VADDPS, X0, Y0)
	VMULSS       X15, X0, X0
	VBROADCASTSS X0, Y12         // the mean
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	VXORPS       Y2, Y2, Y2
	VXORPS       Y3, Y3, Y3
	XORQ         CX, CX

squares:
	VMOVUPS     (DI)(CX*4), Y4
	VMOVUPS     32(DI)(CX*4), Y5
	VMOVUPS     64(DI)(CX*4), Y6
	VMOVUPS     96(DI)(CX*4), Y7
	VSUBPS      Y12, Y4, Y4
	VSUBPS      Y12, Y5, Y5
	VSUBPS      Y12, Y6, Y6
	VSUBPS      Y12, Y7, Y7
	VFMADD231PS Y4, Y4, Y0
	VFMADD231PS Y5, Y5, Y1
	VFMADD231PS Y6, Y6, Y2
	VFMADD231PS Y7, Y7, Y3
	ADDQ        $32, CX
	CMPQ        CX, DX
	JNE         squares

	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	VADDPS Y2, Y0, Y0
	REDUCE(VADDPS, X0, Y0)
	VMULSS       X15, X0, X0
	VADDSS       epsilon+96(FP), X0, X0
	VSQRTSS      X0, X0, X0
	VDIVSS       X0, X14, X0
	VBROADCASTSS X0, Y11         // one over the deviation
	XORQ         CX, CX

normalise:
	VMOVUPS     (DI)(CX*4), Y4
	VMOVUPS     32(DI)(CX*4), Y5
	VMOVUPS     (R9)(CX*4), Y6
	VMOVUPS     32(R9)(CX*4), Y7
	VSUBPS      Y12, Y4, Y4
	VSUBPS      Y12, Y5, Y5
	VMULPS      Y11, Y4, Y4
	VMULPS      Y11, Y5, Y5
	VFMADD132PS (R8)(CX*4), Y6, Y4
	VFMADD132PS 32(R8)(CX*4), Y7, Y5
	VMOVUPS     Y4, (DI)(CX*4)
	VMOVUPS     Y5, 32(DI)(CX*4)
	ADDQ        $16, CX
	CMPQ        CX, DX
	JNE         normalise
	VZEROUPPER
	RET

// func embedAVX2(x []float32, row []byte, scale float32, place []float32)
TEXT ·embedAVX2(SB), NOSPLIT, $0-80
	MOVQ         x_base+0(FP), DI
	MOVQ         x_len+8(FP), CX
	MOVQ         row_base+24(FP), SI
	VBROADCASTSS scale+48(FP), Y2
	MOVQ         place_base+56(FP), R8

eight:
	VPMOVSXBD   (SI), Y0
	VCVTDQ2PS   Y0, Y0
	VFMADD213PS (R8), Y2, Y0
	VMOVUPS     Y0, (DI)
	ADDQ        $8, SI
	ADDQ        $32, R8
	ADDQ        $32, DI
	SUBQ        $8, CX
	JNZ         eight
	VZEROUPPER
	RET
