/** Reads mail files with third-party MIME parsers: `postal-mime`, and Python's standard library. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postalMime from 'postal-mime';

export type ReadMail = { readonly subject: string; readonly text: string; readonly html: string };

export async function readByPostalMime(folder: string, file: string): Promise<ReadMail> {
  const { subject, text, html, attachments } = await postalMime.parse(
    readFileSync(join(folder, file)),
  );
  if (attachments.length > 0) throw new Error('the mail has attachments');
  return { subject: subject ?? '', text: text ?? '', html: html ?? '' };
}

const PYTHON = `
import email, email.policy, json, pathlib, sys
read = {}
for path in pathlib.Path(sys.argv[1]).glob('*.eml'):
    mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    parts = {kind: mail.get_body((kind,)).get_content() for kind in ('plain', 'html')}
    read[path.name] = {
        'subject': mail['subject'], 'type': mail.get_content_type(),
        'text': parts['plain'], 'html': parts['html'],
        'defects': sum(len(part.defects) for part in mail.walk()),
    }
print(json.dumps(read))
`;

export const hasPython = spawnSync('python3', ['--version']).status === 0;

/** All mails of the folder, by file name. */
export function readByPython(folder: string): {
  readonly [file: string]: ReadMail & { readonly type: string; readonly defects: number };
} {
  const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON, folder], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout);
}
