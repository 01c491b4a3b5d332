// Verifies tokens by coreos/go-oidc as its users do: with the issuer's keys fetched from where discovery says.
//
// It reads {"jwks_uri", "tokens": [{"kind", "alg", "token", "issuer", "audience"}]} from standard input and prints, for
// each token, its claims or the error.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log"
	"os"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

type given struct {
	KeysURL string `json:"jwks_uri"`
	Tokens  []struct {
		Kind     string `json:"kind"`
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
		config := &oidc.Config{
			ClientID:             each.Audience,
			SupportedSigningAlgs: []string{each.Alg},
			// Signed userinfo says who somebody is, and does not expire.
			SkipExpiryCheck: each.Kind == "userinfo",
		}
		token, err := oidc.NewVerifier(each.Issuer, keys, config).Verify(ctx, each.Token)
		if err != nil {
			results = append(results, verified{Error: err.Error()})
			continue
		}
		var claims map[string]any
		if err := token.Claims(&claims); err != nil {
			log.Fatal(err)
		}
		if each.Kind == "logout_token" {
			if err := checkLogout(each.Token, claims); err != nil {
				results = append(results, verified{Error: err.Error()})
				continue
			}
		}
		results = append(results, verified{Claims: claims})
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}

// What Back-Channel Logout 1.0, section 2.6, asks beyond signature, issuer and audience, which the library leaves to
// its users.
func checkLogout(token string, claims map[string]any) error {
	var header struct {
		Type string `json:"typ"`
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &header); err != nil {
		return err
	}
	events, _ := claims["events"].(map[string]any)
	event, isEvent := events["http://schemas.openid.net/event/backchannel-logout"].(map[string]any)
	_, hasTime := claims["iat"].(float64)
	_, hasID := claims["jti"].(string)
	_, hasSession := claims["sid"].(string)
	_, hasNonce := claims["nonce"]
	isLogout := isEvent && len(event) == 0 && len(events) == 1
	if header.Type != "logout+jwt" || !isLogout || !hasTime || !hasID || !hasSession || hasNonce {
		return errors.New("no logout token")
	}
	return nil
}
