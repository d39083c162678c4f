#include "textflag.h"

// The tiles of kernel.go: 8 rows by 32 columns of 32-bit sums.

// Adds the products of four bytes of one row, at address, with both halves of the panel's line in Z16 and Z17.
#define ROW(address, low, high) \
	VPBROADCASTD address, Z18   \
	VPDPBUSD     Z16, Z18, low  \
	VPDPBUSD     Z17, Z18, high

// Writes the sums of one row.
#define WRITE(low, high)      \
	VMOVDQU32 low, (DI)       \
	VMOVDQU32 high, 64(DI)    \
	ADDQ      DX, DI

// func tileVNNI(out []int32, outStride int, rows []int8, stride int, panel []int8, start []int32, n int)
//
// All 16 sums of 16 columns stay in registers. The rows are unsigned bytes.
TEXT ·tileVNNI(SB), NOSPLIT, $0-120
	MOVQ out_base+0(FP), DI
	MOVQ outStride+24(FP), DX
	MOVQ rows_base+32(FP), SI
	MOVQ stride+56(FP), R8
	MOVQ panel_base+64(FP), BX
	MOVQ start_base+88(FP), AX
	MOVQ n+112(FP), CX

	SHLQ $2, DX
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), R10

	VMOVDQU32 (AX), Z0
	VMOVDQU32 64(AX), Z1
	VMOVDQA32 Z0, Z2
	VMOVDQA32 Z1, Z3
	VMOVDQA32 Z0, Z4
	VMOVDQA32 Z1, Z5
	VMOVDQA32 Z0, Z6
	VMOVDQA32 Z1, Z7
	VMOVDQA32 Z0, Z8
	VMOVDQA32 Z1, Z9
	VMOVDQA32 Z0, Z10
	VMOVDQA32 Z1, Z11
	VMOVDQA32 Z0, Z12
	VMOVDQA32 Z1, Z13
	VMOVDQA32 Z0, Z14
	VMOVDQA32 Z1, Z15

line:
	VMOVDQU32  (BX), Z16
	VMOVDQU32  64(BX), Z17
	ROW((SI), Z0, Z1)
	ROW((SI)(R8*1), Z2, Z3)
	ROW((SI)(R8*2), Z4, Z5)
	ROW((SI)(R9*1), Z6, Z7)
	ROW((R10), Z8, Z9)
	ROW((R10)(R8*1), Z10, Z11)
	ROW((R10)(R8*2), Z12, Z13)
	ROW((R10)(R9*1), Z14, Z15)
	ADDQ $128, BX
	ADDQ $4, SI
	ADDQ $4, R10
	SUBQ $4, CX
	JNZ  line

	WRITE(Z0, Z1)
	WRITE(Z2, Z3)
	WRITE(Z4, Z5)
	WRITE(Z6, Z7)
	WRITE(Z8, Z9)
	WRITE(Z10, Z11)
	WRITE(Z12, Z13)
	WRITE(Z14, Z15)
	VZEROUPPER
	RET

// Scales the sums of one row, whose own scale is at address, and writes them.
#define SCALE(address, low, high)     \
	VBROADCASTSS address, Z18         \
	VCVTDQ2PS    low, low             \
	VCVTDQ2PS    high, high           \
	VMULPS       Z18, low, low        \
	VMULPS       Z18, high, high      \
	VFMADD213PS  Z22, Z20, low        \
	VFMADD213PS  Z23, Z21, high       \
	VMOVUPS      low, (DI)            \
	VMOVUPS      high, 64(DI)         \
	ADDQ         DX, DI

// func productVNNI(out []float32, outStride int, rows []int8, scales []float32, panel []int8, start []int32, cols, bias []float32, n int, tile []int32)
//
// The same sums as in tileVNNI, for all rows; they are scaled without leaving their registers.
TEXT ·productVNNI(SB), NOSPLIT, $0-208
	MOVQ out_base+0(FP), DI
	MOVQ outStride+24(FP), DX
	MOVQ rows_base+32(FP), SI
	MOVQ scales_base+56(FP), R12
	MOVQ scales_len+64(FP), R13
	MOVQ panel_base+80(FP), R14
	MOVQ start_base+104(FP), AX
	MOVQ cols_base+128(FP), BX
	MOVQ bias_base+152(FP), CX
	MOVQ n+176(FP), R8

	VMOVDQU32 (AX), Z24
	VMOVDQU32 64(AX), Z25
	VMOVUPS   (BX), Z20
	VMOVUPS   64(BX), Z21
	VMOVUPS   (CX), Z22
	VMOVUPS   64(CX), Z23

	SHLQ $2, DX
	LEAQ (R8)(R8*2), R9
	MOVQ R8, R11
	SHLQ $5, R11                // to the next panel, which is fetched meanwhile

tile:
	VMOVDQA32 Z24, Z0
	VMOVDQA32 Z25, Z1
	VMOVDQA32 Z24, Z2
	VMOVDQA32 Z25, Z3
	VMOVDQA32 Z24, Z4
	VMOVDQA32 Z25, Z5
	VMOVDQA32 Z24, Z6
	VMOVDQA32 Z25, Z7
	VMOVDQA32 Z24, Z8
	VMOVDQA32 Z25, Z9
	VMOVDQA32 Z24, Z10
	VMOVDQA32 Z25, Z11
	VMOVDQA32 Z24, Z12
	VMOVDQA32 Z25, Z13
	VMOVDQA32 Z24, Z14
	VMOVDQA32 Z25, Z15
	LEAQ      (SI)(R8*4), R10
	MOVQ      R14, BX
	MOVQ      R8, CX

line:
	PREFETCHT1 (BX)(R11*1)
	PREFETCHT1 64(BX)(R11*1)
	VMOVDQU32  (BX), Z16
	VMOVDQU32  64(BX), Z17
	ROW((SI), Z0, Z1)
	ROW((SI)(R8*1), Z2, Z3)
	ROW((SI)(R8*2), Z4, Z5)
	ROW((SI)(R9*1), Z6, Z7)
	ROW((R10), Z8, Z9)
	ROW((R10)(R8*1), Z10, Z11)
	ROW((R10)(R8*2), Z12, Z13)
	ROW((R10)(R9*1), Z14, Z15)
	ADDQ $128, BX
	ADDQ $4, SI
	ADDQ $4, R10
	SUBQ $4, CX
	JNZ  line

	SCALE((R12), Z0, Z1)
	SCALE(4(R12), Z2, Z3)
	SCALE(8(R12), Z4, Z5)
	SCALE(12(R12), Z6, Z7)
	SCALE(16(R12), Z8, Z9)
	SCALE(20(R12), Z10, Z11)
	SCALE(24(R12), Z12, Z13)
	SCALE(28(R12), Z14, Z15)
	LEAQ (R10)(R9*1), SI      // the row behind the tile's last
	ADDQ $32, R12
	SUBQ $8, R13
	JNZ  tile
	VZEROUPPER
	RET

// Adds the products of four bytes of two rows, in Y8 and Y10, with eight columns of the panel. The signs go to the
// panel's side, so that the rows' side is unsigned and no larger than 127: two products fit 16 bits.
#define PAIR(address, first, second)   \
	VMOVDQU    address, Y12            \
	VPSIGNB    Y8, Y12, Y13            \
	VPSIGNB    Y10, Y12, Y14           \
	VPMADDUBSW Y13, Y9, Y13            \
	VPMADDUBSW Y14, Y11, Y14           \
	VPMADDWD   Y15, Y13, Y13           \
	VPMADDWD   Y15, Y14, Y14           \
	VPADDD     Y13, first, first       \
	VPADDD     Y14, second, second

// func tileAVX2(out []int32, outStride int, rows []int8, stride int, panel []int8, start []int32, n int)
TEXT ·tileAVX2(SB), NOSPLIT, $0-120
	MOVQ out_base+0(FP), DI
	MOVQ outStride+24(FP), DX
	MOVQ rows_base+32(FP), SI
	MOVQ stride+56(FP), R8
	MOVQ start_base+88(FP), AX
	MOVQ $4, R11                   // pairs of rows

	SHLQ     $2, DX
	VPCMPEQW Y15, Y15, Y15
	VPABSW   Y15, Y15              // ones

pair:
	VMOVDQU (AX), Y0
	VMOVDQU 32(AX), Y1
	VMOVDQU 64(AX), Y2
	VMOVDQU 96(AX), Y3
	VMOVDQA Y0, Y4
	VMOVDQA Y1, Y5
	VMOVDQA Y2, Y6
	VMOVDQA Y3, Y7
	MOVQ    panel_base+64(FP), BX
	MOVQ    n+112(FP), CX
	MOVQ    SI, R10

line:
	VPBROADCASTD (R10), Y8
	VPBROADCASTD (R10)(R8*1), Y10
	VPABSB       Y8, Y9
	VPABSB       Y10, Y11
	PAIR((BX), Y0, Y4)
	PAIR(32(BX), Y1, Y5)
	PAIR(64(BX), Y2, Y6)
	PAIR(96(BX), Y3, Y7)
	ADDQ         $128, BX
	ADDQ         $4, R10
	SUBQ         $4, CX
	JNZ          line

	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	ADDQ    DX, DI
	VMOVDQU Y4, (DI)
	VMOVDQU Y5, 32(DI)
	VMOVDQU Y6, 64(DI)
	VMOVDQU Y7, 96(DI)
	ADDQ    DX, DI
	LEAQ    (SI)(R8*2), SI
	DECQ    R11
	JNZ     pair
	VZEROUPPER
	RET
