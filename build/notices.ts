/** The licences of the packages whose code a release contains. Most of them must accompany every copy. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param root of the checkout
 * @param paths of packages below it, such as `node_modules/zod`
 */
export function makeNotices(root: string, paths: readonly string[]): string {
  const intro = 'Sluice contains code of the packages below, each under the licence that stands with it.\n';
  return [intro, ...paths.map((path) => noticeOf(join(root, path)))].join(`\n${'='.repeat(80)}\n\n`);
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n').concat('\n');
}
