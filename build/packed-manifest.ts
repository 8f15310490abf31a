/**
 * Writes package.json as the npm package has it, before `npm pack` (`node build/packed-manifest.ts trim`), and as it was, after it
 * (`restore`). The package is bundled, so it has neither scripts nor development dependencies. keytar becomes an optional peer: npm and
 * pnpm no longer run install scripts of their own accord, and without its script keytar cannot load (pnpm 11 even ends with
 * ERR_PNPM_IGNORED_BUILDS). Whoever installs keytar beside Sluice gets it; @napi-rs/keyring needs no script.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageName } from './release/package-name.ts';

const path = join(import.meta.dirname, '../package.json');
const whole = join(import.meta.dirname, '../dist/package.json.whole');

/** A pack that was interrupted has left it. */
function restore(): void {
  if (existsSync(whole)) renameSync(whole, path);
}

function trim(): void {
  restore();
  const text = readFileSync(path, 'utf8');
  const { scripts, devDependencies, allowScripts, optionalDependencies, ...manifest } = JSON.parse(text);
  const { keytar, ...optional } = optionalDependencies;
  const packed = {
    ...manifest,
    name: packageName,
    optionalDependencies: optional,
    peerDependencies: { keytar },
    peerDependenciesMeta: { keytar: { optional: true } },
  };
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  writeFileSync(path, `${JSON.stringify(packed, null, 2)}\n`);
}

const [verb] = process.argv.slice(2);
if (verb === 'trim') trim();
else if (verb === 'restore') restore();
else throw new Error('Say trim or restore.');
