/**
 * Renders images, documents and videos as blocks of Bedrock's Converse API, which accepts their bytes but does not
 * fetch URLs.
 */
import { entryOf } from '../../core/table-entry.ts';
import type { MediaPart } from '../../neutral/conversation.ts';
import { refuse } from '../../neutral/losses.ts';
import { fileNameOf } from '../../neutral/media.ts';
import type { Rendering } from '../../neutral/requests/rendering.ts';

type Json = Record<string, unknown>;
type Block = 'image' | 'document' | 'video';

/** Sources: Amazon Bedrock API reference, `ImageBlock`, `DocumentBlock`, `VideoBlock`, `format`. */
const formats: Record<Block, Record<string, string>> = {
  image: { 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/gif': 'gif', 'image/webp': 'webp' },
  document: {
    'application/pdf': 'pdf',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'text/csv': 'csv',
    'text/html': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
  },
  video: {
    'video/mp4': 'mp4',
    'video/quicktime': 'mov',
    'video/x-matroska': 'mkv',
    'video/webm': 'webm',
    'video/x-flv': 'flv',
    'video/mpeg': 'mpeg',
    'video/x-ms-wmv': 'wmv',
    'video/3gpp': 'three_gp',
  },
};

/** Assigns names to the documents of one request, which must be unique. */
export class DocumentNames {
  readonly #usedNames = new Set<string>();
  readonly #numbers = new Map<string, number>();

  /** Bedrock accepts letters, digits, hyphens, brackets and single spaces, and at most 200 characters. */
  give(name: string): string {
    const allowedName = Array.from(name.slice(0, maxNameLength), (character) =>
      isAllowed(character) ? character : ' ',
    ).join('');
    const base = allowedName.split(' ').filter(Boolean).join(' ') || 'document';
    let uniqueName = base;
    for (let number = this.#numbers.get(base) ?? 1; this.#usedNames.has(uniqueName); ) {
      uniqueName = `${base} ${++number}`;
      this.#numbers.set(base, number);
    }
    this.#usedNames.add(uniqueName);
    return uniqueName;
  }
}

/** Leaves room for a number. */
const maxNameLength = 190;

function isAllowed(character: string): boolean {
  const isLetter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
  const isDigit = character >= '0' && character <= '9';
  return character.length === 1 && (isLetter || isDigit || '-()[]'.includes(character));
}

/** @throws GatewayError `invalid_value` for media that Converse does not accept */
export function renderMedia(rendering: Rendering, part: MediaPart, names: DocumentNames): Json {
  const { kind, source, at } = part;
  rendering.dropDetail(part);
  if (source.type === 'file') return refuse(at, 'foreign-file');
  if (source.type === 'text')
    return document('txt', { bytes: Buffer.from(source.text).toString('base64') }, part, names);
  if (kind === 'audio') return refuse(at, 'media');
  const format = entryOf(formats[kind], source.mediaType ?? '');
  const location = source.type === 'base64' ? { bytes: source.data } : s3Location(source.url);
  if (format === undefined || location === null) return refuse(at, 'media');
  if (kind === 'document') return document(format, location, part, names);
  return { [kind]: { format, source: location } };
}

/** Null for addresses other than those of Amazon S3. */
function s3Location(url: string): Json | null {
  return url.startsWith('s3://') ? { s3Location: { uri: url } } : null;
}

function document(format: string, source: Json, part: MediaPart, names: DocumentNames): Json {
  return { document: { format, name: names.give(fileNameOf(part)), source } };
}
