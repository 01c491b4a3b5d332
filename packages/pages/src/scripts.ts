/** Scripts that pages share: constants, which a page's policy allows by their hash. */

/** Written out rather than by `parseRequestOptionsFromJSON`, which browsers of before 2025 lack. */
export const PASSKEY_SCRIPT = `
const bytes = (text) => Uint8Array.from(
  atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const listed = (list) => list?.map((each) => ({ ...each, id: bytes(each.id) }));
const asked = (options) => ({
  ...options,
  challenge: bytes(options.challenge),
  ...(options.user && { user: { ...options.user, id: bytes(options.user.id) } }),
  ...(options.allowCredentials && { allowCredentials: listed(options.allowCredentials) }),
  ...(options.excludeCredentials && { excludeCredentials: listed(options.excludeCredentials) }),
});
const shown = ({ id, rawId, type, authenticatorAttachment, response }, extensions) => ({
  id, rawId: text(rawId), type, authenticatorAttachment, clientExtensionResults: extensions,
  response: {
    clientDataJSON: text(response.clientDataJSON),
    ...(response.attestationObject && {
      attestationObject: text(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    }),
    ...(response.authenticatorData && {
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      ...(response.userHandle && { userHandle: text(response.userHandle) }),
    }),
  },
});
const ask = async (form) => {
  const answer = await fetch(form.dataset.challenge, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ method: 'passkey' }),
  });
  if (!answer.ok) throw new Error(String(answer.status));
  const { challenge_id, options } = await answer.json();
  const publicKey = asked(options);
  const credential = options.user
    ? await navigator.credentials.create({ publicKey })
    : await navigator.credentials.get({ publicKey });
  form.elements.challenge_id.value = challenge_id;
  form.elements.response.value = JSON.stringify(
    shown(credential, credential.getClientExtensionResults()));
  form.submit();
};
if (window.PublicKeyCredential) {
  for (const form of document.querySelectorAll('form[data-challenge]')) {
    form.hidden = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const button = form.querySelector('button');
      const alert = form.querySelector('[role=alert]');
      button.disabled = true;
      alert.hidden = true;
      try {
        await ask(form);
      } catch {
        alert.hidden = false;
        button.disabled = false;
        button.focus();
      }
    });
  }
  for (const other of document.querySelectorAll('[data-without-passkey]')) other.hidden = true;
}
`.trim();

/** Shows what is typed as a password, and hides it again before it is sent, so that no browser keeps it as a text. */
export const SHOW_PASSWORD_SCRIPT = `
for (const button of document.querySelectorAll('button[data-reveals]')) {
  const field = document.getElementById(button.dataset.reveals);
  const show = button.textContent;
  const turn = (isShown) => {
    field.type = isShown ? 'text' : 'password';
    button.textContent = isShown ? button.dataset.hide : show;
  };
  button.hidden = false;
  button.addEventListener('click', () => turn(field.type === 'password'));
  field.form.addEventListener('submit', () => turn(false));
}
`.trim();

/** Joins the scripts that a page needs into the one that its policy names. */
export const scriptsOf = (...scripts: readonly (string | false)[]): string | undefined => {
  const needed = scripts.filter((script) => script !== false);
  return needed.length === 0 ? undefined : needed.join('\n');
};
