package detect

// The check digits of national numbers. Every function gets the digits and letters alone.

// weighted is the sum of digits, each times its weight.
func weighted(number string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += w * int(number[i]-'0')
	}
	return sum
}

// value is the number that n digits from byte i on are.
func value(number string, i, n int) int {
	v := 0
	for _, c := range []byte(number[i : i+n]) {
		v = v*10 + int(c-'0')
	}
	return v
}

func dayAndMonth(day, month int) bool { return day >= 1 && day <= 31 && month >= 1 && month <= 12 }

func same(number string) bool {
	for i := range number {
		if number[i] != number[0] {
			return false
		}
	}
	return true
}

// eleven is the check digit of a sum modulo 11 whose 10 stands for 0.
func eleven(sum int) int { return sum % 11 % 10 }

// cpf is the Brazilian Cadastro de Pessoas Físicas.
func cpf(n string) bool {
	first := eleven(weighted(n, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10)
	return !same(n) && first == value(n, 9, 1) && eleven(weighted(n, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)*10) == value(n, 10, 1)
}

// pesel is the Polish number; the month says the century.
func pesel(n string) bool {
	return dayAndMonth(value(n, 4, 2), value(n, 2, 2)%20) && weighted(n, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)%10 == 0
}

// turkish is the T.C. Kimlik Numarası.
func turkish(n string) bool {
	odd, even := weighted(n, 1, 0, 1, 0, 1, 0, 1, 0, 1), weighted(n, 0, 1, 0, 1, 0, 1, 0, 1)
	return n[0] != '0' && (odd*7-even+100)%10 == value(n, 9, 1) && (odd+even+value(n, 9, 1))%10 == value(n, 10, 1)
}

// norwegian is the fødselsnummer.
func norwegian(n string) bool {
	return dayAndMonth(value(n, 0, 2)%40, value(n, 2, 2)%40) && weighted(n, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1)%11 == 0 &&
		weighted(n, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0
}

// iso7064 is ISO/IEC 7064, MOD 11,10: the German tax number, the Croatian OIB.
func iso7064(n string) bool {
	product := 10
	for i := range len(n) - 1 {
		sum := (int(n[i]-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return (11-product)%10 == value(n, len(n)-1, 1)
}

// baltic is the number of Estonia and Lithuania.
func baltic(n string) bool {
	if n[0] < '1' || n[0] > '8' || !dayAndMonth(value(n, 5, 2), value(n, 3, 2)) {
		return false
	}
	sum := weighted(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1) % 11
	if sum == 10 {
		sum = weighted(n, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3) % 11
	}
	return sum%10 == value(n, 10, 1)
}

// belgian is the national register number; from 2000 on a 2 stands before it.
func belgian(n string) bool {
	base, check := value(n, 0, 9), value(n, 9, 2)
	return value(n, 2, 2) <= 12 && value(n, 4, 2) <= 31 && (97-base%97 == check || 97-(2_000_000_000+base)%97 == check)
}

// swedish is the personnummer, with ten or twelve digits. In numbers of coordination the day has 60 more.
func swedish(n string) bool {
	n = n[len(n)-10:]
	return dayAndMonth(value(n, 4, 2)%60, value(n, 2, 2)) && luhn(n)
}

// verhoeff is the check of the Indian Aadhaar (J. Verhoeff, Error Detecting Decimal Codes, 1969).
func verhoeff(n string) bool {
	const (
		products = "0123456789" + "1234067895" + "2340178956" + "3401289567" + "4012395678" + "5987604321" + "6598710432" + "7659821043" + "8765932104" + "9876543210"
		swaps    = "0123456789" + "1576283094" + "5803796142" + "8916043527" + "9453126870" + "4286573901" + "2793806415" + "7046913258"
	)
	c := 0
	for i := range len(n) {
		d := int(n[len(n)-1-i] - '0')
		c = int(products[c*10+int(swaps[i%8*10+d]-'0')] - '0')
	}
	return c == 0 && n[0] > '1'
}

// dutch is the burgerservicenummer.
func dutch(n string) bool { return !same(n) && weighted(n, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0 }

// portuguese is the NIF of a person.
func portuguese(n string) bool {
	return n[0] >= '1' && n[0] <= '4' && eleven(11-weighted(n, 9, 8, 7, 6, 5, 4, 3, 2)%11) == value(n, 8, 1)
}

// australian is the tax file number.
func australian(n string) bool { return weighted(n, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0 }

// nhs is the British health service's number.
func nhs(n string) bool {
	return !same(n) && weighted(n, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)%11 == 0
}

// bulgarian is the EGN; the month says the century.
func bulgarian(n string) bool {
	return dayAndMonth(value(n, 4, 2), value(n, 2, 2)%20) && eleven(weighted(n, 2, 4, 8, 5, 10, 9, 7, 3, 6)) == value(n, 9, 1)
}

// czech is the rodné číslo, of Slovakia as well; women have 50 more in the month.
func czech(n string) bool {
	return dayAndMonth(value(n, 4, 2), value(n, 2, 2)%50%20) && value(n, 0, 10)%11 == 0
}

// chilean is the RUT.
func chilean(n string) bool {
	switch sum := (11 - weighted(n, 3, 2, 7, 6, 5, 4, 3, 2)%11) % 11; sum {
	case 10:
		return n[8] == 'K'
	default:
		return int(n[8]) == '0'+sum
	}
}

// argentine is the CUIL of a person.
func argentine(n string) bool {
	switch value(n, 0, 2) {
	case 20, 23, 24, 27:
		return weighted(n, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0
	}
	return false
}

// spanish is the DNI, and the NIE of foreigners, which begins with X, Y or Z.
func spanish(n string) bool {
	digits := n[:8]
	if n[0] >= 'X' && n[0] <= 'Z' {
		digits = string('0'+n[0]-'X') + n[1:8]
	} else if !digit(n[0]) {
		return false
	}
	return "TRWAGMYFPDXBNJZSQVHLCKE"[value(digits, 0, 8)%23] == n[8]
}

// finnish is the henkilötunnus.
func finnish(n string) bool {
	return dayAndMonth(value(n, 0, 2), value(n, 2, 2)) && "0123456789ABCDEFHJKLMNPRSTUVWXY"[value(n, 0, 9)%31] == n[9]
}

// chinese is the number of GB 11643, with the check of ISO/IEC 7064, MOD 11-2.
func chinese(n string) bool {
	year := value(n, 6, 4)
	return year >= 1900 && year < 2100 && dayAndMonth(value(n, 12, 2), value(n, 10, 2)) &&
		"10X98765432"[weighted(n, 7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)%11] == n[17]
}

// southAfrican is the identity number.
func southAfrican(n string) bool {
	return dayAndMonth(value(n, 4, 2), value(n, 2, 2)) && n[10] <= '2' && luhn(n)
}

// romanian is the CNP.
func romanian(n string) bool {
	return n[0] > '0' && dayAndMonth(value(n, 5, 2), value(n, 3, 2)) && eleven10(weighted(n, 2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) == value(n, 12, 1)
}

// eleven10 is a sum modulo 11 whose 10 stands for 1.
func eleven10(sum int) int {
	if sum%11 == 10 {
		return 1
	}
	return sum % 11
}

// korean is the resident registration number.
func korean(n string) bool {
	return dayAndMonth(value(n, 4, 2), value(n, 2, 2)) &&
		(11-weighted(n, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)%11)%10 == value(n, 12, 1)
}

// french is the NIR.
func french(n string) bool {
	return (n[0] == '1' || n[0] == '2') && value(n, 3, 2) >= 1 && value(n, 3, 2) <= 12 && 97-value(n, 0, 13)%97 == value(n, 13, 2)
}

// italian is the codice fiscale.
func italian(n string) bool {
	odd := [...]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	sum := 0
	for i := range 15 {
		v := int(n[i] - 'A')
		if digit(n[i]) {
			v = int(n[i] - '0')
		}
		if i%2 == 0 {
			v = odd[v]
		}
		sum += v
	}
	return int(n[15]-'A') == sum%26
}

// british is the national insurance number, which has no check digit.
func british(n string) bool { return n[8] <= 'D' && n[0] != 'D' && n[0] != 'Q' && n[1] != 'O' }
