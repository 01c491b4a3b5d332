/** Scripts that pages share. They are constants, which a page's policy allows by their hash. */

/** A challenge lasts five minutes. A page that offers passkeys requests another one before that. */
const OFFER_MS = 4 * 60_000;
const OFFERS_MAX = 5;

/** Converts the options itself, because browsers from before 2025 lack `parseRequestOptionsFromJSON`. */
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
const challenge = async (form) => {
  const answer = await fetch(form.dataset.challenge, form.dataset.get === '' ? {} : {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ method: 'passkey' }),
  });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
};
const send = (form, challenge_id, credential) => {
  form.elements.challenge_id.value = challenge_id;
  form.elements.response.value = JSON.stringify(
    shown(credential, credential.getClientExtensionResults()));
  form.submit();
};
let offering;
const ask = async (form) => {
  offering?.abort();
  const { challenge_id, options } = await challenge(form);
  const publicKey = asked(options);
  const credential = options.user
    ? await navigator.credentials.create({ publicKey })
    : await navigator.credentials.get({ publicKey });
  send(form, challenge_id, credential);
};
const offer = async (form) => {
  for (let offers = 0; offers < ${OFFERS_MAX}; offers += 1) {
    const { challenge_id, options } = await challenge(form);
    offering = new AbortController();
    const { signal } = offering;
    const renewal = setTimeout(() => offering.abort(offer), ${OFFER_MS});
    try {
      const publicKey = asked(options);
      const credential =
        await navigator.credentials.get({ publicKey, mediation: 'conditional', signal });
      return send(form, challenge_id, credential);
    } catch {
      if (signal.reason !== offer) return;
    } finally {
      clearTimeout(renewal);
    }
  }
};
if (window.PublicKeyCredential) {
  const offered = document.querySelector('form[data-offered]');
  const canOffer = PublicKeyCredential.isConditionalMediationAvailable;
  if (offered && canOffer) {
    canOffer.call(PublicKeyCredential).then((can) => can && offer(offered)).catch(() => {});
  }
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
  for (const button of document.querySelectorAll('button[data-proof]')) {
    const { form, dataset } = button;
    button.hidden = false;
    button.addEventListener('click', async () => {
      const alert = form.querySelector('.proof [role=alert]');
      alert.hidden = true;
      try {
        const source = { dataset: { challenge: dataset.proof, get: '' } };
        const { challenge_id, options } = await challenge(source);
        const credential = await navigator.credentials.get({ publicKey: asked(options) });
        form.elements.proof_challenge_id.value = challenge_id;
        form.elements.proof_response.value = JSON.stringify(
          shown(credential, credential.getClientExtensionResults()));
        form.submit();
      } catch {
        alert.hidden = false;
        button.focus();
      }
    });
  }
  for (const other of document.querySelectorAll('[data-without-passkey]')) other.hidden = true;
}
`.trim();

/** Shows the typed password, and hides it again before it is sent, so that no browser stores it as a text. */
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

/** Copies, downloads and prints what is shown once. Over plain HTTP, browsers allow copying a selection only. */
export const SAVE_SCRIPT = `
for (const bar of document.querySelectorAll('[data-saves]')) {
  const shown = document.getElementById(bar.dataset.saves);
  const status = bar.querySelector('[role=status]');
  const selected = () => {
    getSelection().selectAllChildren(shown);
    if (!document.execCommand('copy')) throw new Error('no clipboard');
    getSelection().removeAllRanges();
  };
  const does = {
    copy: async () => {
      try { await navigator.clipboard.writeText(shown.innerText); } catch { selected(); }
      status.textContent = bar.dataset.copied;
    },
    download: async () => {
      const file = new Blob([shown.innerText, '\\n'], { type: 'text/plain' });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(file);
      link.download = bar.dataset.file;
      link.click();
      URL.revokeObjectURL(link.href);
    },
    print: async () => print(),
  };
  bar.hidden = false;
  for (const button of bar.querySelectorAll('button')) {
    button.addEventListener('click', () => {
      status.textContent = '';
      does[button.dataset.does]().catch(() => { status.textContent = bar.dataset.failed; });
    });
  }
}
`.trim();

/** A part that is larger or slower stays a link. */
const PART_MAX_CHARS = 64 * 1024;
const PART_WAIT_MS = 3_000;

/** Replaces links to parts of other pages by those parts, and writes the names that parts list before their ids. */
export const PARTS_SCRIPT = `
const partAt = async (path, use) => {
  const limits = { signal: AbortSignal.timeout(${PART_WAIT_MS}), redirect: 'error' };
  const answer = await fetch(path, limits);
  const text = answer.ok ? await answer.text() : '';
  if (text === '' || text.length > ${PART_MAX_CHARS}) return;
  const part = document.createElement('div');
  part.innerHTML = text;
  use(part);
};
for (const link of document.querySelectorAll('a[data-part]')) {
  partAt(link.dataset.part, (part) => link.replaceWith(part)).catch(() => {});
}
const ids = [...document.querySelectorAll('[data-named-by]')];
for (const source of new Set(ids.map((id) => id.dataset.namedBy))) {
  partAt(source, (part) => {
    for (const { value, textContent } of part.querySelectorAll('data')) {
      for (const id of ids) if (id.textContent === value) id.before(textContent, ' ');
    }
  }).catch(() => {});
}
`.trim();

/** Joins the scripts that a page needs into one, whose hash its policy names. */
export const scriptsOf = (...scripts: readonly (string | false)[]): string | undefined => {
  const needed = scripts.filter((script) => script !== false);
  return needed.length === 0 ? undefined : needed.join('\n');
};
