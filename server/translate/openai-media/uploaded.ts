/** Converts files of a client's form or JSON body to Gemini's format. */
import { extname } from 'node:path';
import { isObject } from '../../contract/is-object.ts';
import type { UploadedFile } from '../../wire/uploaded-file.ts';
import type { Fields } from '../fields.ts';
import { invalid, refuse } from '../losses.ts';
import { sourceOfUrl } from '../media.ts';
import type { InlineData } from './operation.ts';

/**
 * Types by file extension, because many clients send `application/octet-stream`. Source: Google, "Audio understanding".
 */
const typesByExtension: Record<string, string> = {
  '.mp3': 'audio/mp3',
  '.mpga': 'audio/mp3',
  '.mpeg': 'audio/mp3',
  '.wav': 'audio/wav',
  '.flac': 'audio/flac',
  '.aac': 'audio/aac',
  '.aiff': 'audio/aiff',
  '.ogg': 'audio/ogg',
  '.oga': 'audio/ogg',
  '.opus': 'audio/ogg',
  '.m4a': 'audio/m4a',
  '.mp4': 'audio/mp4',
  '.webm': 'audio/webm',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
};

export function inlineFile({ name, mediaType, data }: UploadedFile): { inlineData: InlineData } {
  const mimeType = typesByExtension[extname(name).toLowerCase()] ?? mediaType;
  return { inlineData: { mimeType, data: data.toString('base64') } };
}

/** The files of one field; empty if it is absent. */
export function filesOf(fields: Fields, name: string): UploadedFile[] {
  const value = fields.any(name);
  if (value === undefined) return [];
  const files = Array.isArray(value) ? value : [value];
  return files.map((file) => (isUploaded(file) ? file : invalid(fields.path(name), 'expected a file')));
}

function isUploaded(value: unknown): value is UploadedFile {
  return isObject(value) && Buffer.isBuffer(value.data) && typeof value.name === 'string';
}

/** The images of a JSON body: `images: [{image_url}]`. The id of an uploaded file means nothing to another provider. */
export function linkedImages(fields: Fields): { inlineData: InlineData }[] {
  return fields.items('images').map((image) => {
    if (image.any('file_id') !== undefined) refuse(image.path('file_id'), 'foreign-file');
    const source = sourceOfUrl(image.requiredText('image_url'));
    if (source.type !== 'base64') invalid(image.path('image_url'), 'this provider accepts data URLs only');
    image.dropRest();
    return { inlineData: { mimeType: source.mediaType, data: source.data } };
  });
}
