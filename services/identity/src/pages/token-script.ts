/**
 * Reads the secret after the `#`, which browsers send to no server, and reloads the page for the tenant that the secret
 * names. Without the script the person pastes the link into the field.
 */
export const TOKEN_SCRIPT = `
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const own = new URLSearchParams(location.search);
if (token) {
  const tenant = token.split('.')[0];
  if (!own.has('tenant_id')
      && /^[A-Za-z0-9-]{1,128}$/.test(tenant) && document.querySelector('[data-takes-tenant]')) {
    own.set('tenant_id', tenant);
    location.replace(location.pathname + '?' + own + location.hash);
  } else {
    const field = document.querySelector('#token');
    field.value = token;
    field.closest('.field').hidden = true;
  }
}
`.trim();
