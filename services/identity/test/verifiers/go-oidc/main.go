// Verifies tokens by coreos/go-oidc as its users do: with the issuer's keys fetched from where discovery says.
//
// It reads {"jwks_uri", "tokens": [{"alg", "token", "issuer", "audience"}]} from standard input and prints, for each
// token, its claims or the error.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
)

type given struct {
	KeysURL string `json:"jwks_uri"`
	Tokens  []struct {
		Alg      string `json:"alg"`
		Token    string `json:"token"`
		Issuer   string `json:"issuer"`
		Audience string `json:"audience"`
	} `json:"tokens"`
}

type verified struct {
	Claims map[string]any `json:"claims,omitempty"`
	Error  string         `json:"error,omitempty"`
}

func main() {
	var input given
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	keys := oidc.NewRemoteKeySet(ctx, input.KeysURL)
	results := []verified{}
	for _, each := range input.Tokens {
		config := &oidc.Config{ClientID: each.Audience, SupportedSigningAlgs: []string{each.Alg}}
		token, err := oidc.NewVerifier(each.Issuer, keys, config).Verify(ctx, each.Token)
		if err != nil {
			results = append(results, verified{Error: err.Error()})
			continue
		}
		var claims map[string]any
		if err := token.Claims(&claims); err != nil {
			log.Fatal(err)
		}
		results = append(results, verified{Claims: claims})
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}
