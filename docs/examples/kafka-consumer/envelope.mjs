/**
 * The event in a record: CloudEvents 1.0, binary mode, so attributes are headers and `data` is the
 * value. Undefined when the record is none; whoever has more at stake puts such a record aside.
 */
export function readEnvelope({ headers = {}, value }) {
  const header = (name) => headers[name]?.toString();
  const [position, part = '0'] = [header('ce_position'), header('ce_part')];
  const data = parsed(value);
  if (header('ce_specversion') !== '1.0' || !isNumber(position) || !isNumber(part))
    return undefined;
  if (typeof data !== 'object' || data === null) return undefined;
  return {
    id: header('ce_id'),
    type: header('ce_type'),
    version: Number(header('ce_schemaversion')),
    tenant: header('ce_tenantid'),
    stream: header('ce_subject'),
    position,
    part: Number(part),
    released: header('ce_released') === 'true',
    logEpoch: header('ce_logepoch') ?? '',
    data,
  };
}

const isNumber = (text) => /^\d+$/.test(text ?? '');

function parsed(value) {
  try {
    return JSON.parse(value?.toString() ?? 'null');
  } catch {
    return undefined;
  }
}
