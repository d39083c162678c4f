// Package seal encrypts the small secrets that a store has to give back. It promises that who has the database alone can
// neither read one nor put one in another's place. Where the key is kept is the operator's choice.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// KeySize is the length of a key in bytes: AES-256.
const KeySize = 32

// version begins every sealed secret, so that another way of sealing can be told from this one.
const version = 1

// ErrSealed is the error of what cannot be opened: it was sealed under another key or for another owner, or it was changed.
var ErrSealed = errors.New("a sealed secret cannot be opened: the key is another, or the secret was changed")

// Box seals and opens. It may be used by many goroutines.
type Box struct {
	aead cipher.AEAD
	key  []byte // that Derive derives from
}

// New makes a box of a key of [KeySize] random bytes.
func New(key []byte) (*Box, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("seal key: %d bytes, want %d", len(key), KeySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("seal key: %w", err)
	}
	return &Box{aead, bytes.Clone(key)}, nil
}

// Derive is a secret that follows from the key and a label (HKDF-SHA-256, RFC 5869). It says nothing about the key, nor about
// what other labels give.
func (b *Box) Derive(label string) [32]byte {
	secret, err := hkdf.Key(sha256.New, b.key, nil, "gatehouse derive|"+label, 32)
	if err != nil {
		panic(err) // 32 bytes can always be derived
	}
	return [32]byte(secret)
}

// Seal encrypts a secret for an owner: the kind and id of the row that keeps it. What it returns is the version, a random nonce
// and the ciphertext with its tag (AES-256-GCM, NIST SP 800-38D). Two sealings of one secret differ.
func (b *Box) Seal(secret []byte, owner string) []byte {
	return b.aead.Seal([]byte{version}, nil, secret, []byte(owner))
}

// Open decrypts what was sealed for the owner. The error is [ErrSealed].
func (b *Box) Open(sealed []byte, owner string) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != version {
		return nil, ErrSealed
	}
	secret, err := b.aead.Open(nil, nil, sealed[1:], []byte(owner))
	if err != nil {
		return nil, ErrSealed
	}
	return secret, nil
}
