#include "textflag.h"

// SDOT Vd.4S, Vn.16B, Vm.16B, which the assembler does not know: adds to each of four sums four products of bytes.
#define SDOT(m, n, d) WORD $(0x4e809400 | m<<16 | n<<5 | d)

// Adds the products of four bytes of a row, of which there are copies in register n, with 16 columns.
#define ROW(n, a, b, c, d) \
	SDOT(0, n, a)          \
	SDOT(1, n, b)          \
	SDOT(2, n, c)          \
	SDOT(3, n, d)

// func tileNEON(out []int32, outStride int, rows []int8, stride int, panel []int8, start []int32, n int)
//
// Four rows by sixteen columns at a time, whose sums stay in registers.
TEXT ·tileNEON(SB), NOSPLIT, $0-120
	MOVD out_base+0(FP), R0
	MOVD outStride+24(FP), R1
	MOVD rows_base+32(FP), R2
	MOVD stride+56(FP), R3
	MOVD panel_base+64(FP), R4
	MOVD start_base+88(FP), R5
	MOVD n+112(FP), R6
	LSL  $2, R1, R1
	MOVD $0, R7               // bytes of the panel's line that are done: 0, then 64

half:
	MOVD R2, R8               // the first of four rows
	MOVD R0, R9               // where its sums go
	MOVD $2, R10

quad:
	ADD  R3, R8, R11
	ADD  R3, R11, R12
	ADD  R3, R12, R13
	ADD  R3, R13, R14         // the first of the next four
	ADD  R7, R5, R15
	VLD1 (R15), [V16.S4, V17.S4, V18.S4, V19.S4]
	VMOV V16.B16, V20.B16
	VMOV V17.B16, V21.B16
	VMOV V18.B16, V22.B16
	VMOV V19.B16, V23.B16
	VMOV V16.B16, V24.B16
	VMOV V17.B16, V25.B16
	VMOV V18.B16, V26.B16
	VMOV V19.B16, V27.B16
	VMOV V16.B16, V28.B16
	VMOV V17.B16, V29.B16
	VMOV V18.B16, V30.B16
	VMOV V19.B16, V31.B16
	ADD  R7, R4, R15
	MOVD R6, R16

line:
	VLD1    (R15), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1R.P 4(R8), [V4.S4]
	VLD1R.P 4(R11), [V5.S4]
	VLD1R.P 4(R12), [V6.S4]
	VLD1R.P 4(R13), [V7.S4]
	ADD     $128, R15
	ROW(4, 16, 17, 18, 19)
	ROW(5, 20, 21, 22, 23)
	ROW(6, 24, 25, 26, 27)
	ROW(7, 28, 29, 30, 31)
	SUBS    $4, R16
	BNE     line

	VST1 [V16.S4, V17.S4, V18.S4, V19.S4], (R9)
	ADD  R1, R9
	VST1 [V20.S4, V21.S4, V22.S4, V23.S4], (R9)
	ADD  R1, R9
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R9)
	ADD  R1, R9
	VST1 [V28.S4, V29.S4, V30.S4, V31.S4], (R9)
	ADD  R1, R9
	MOVD R14, R8
	SUBS $1, R10
	BNE  quad

	ADD $64, R0
	ADD $64, R7
	CMP $128, R7
	BNE half
	RET
