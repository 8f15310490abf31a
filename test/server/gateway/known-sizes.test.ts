import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import { describeKnownSizes } from './known-sizes.ts';

describe('with the store in SQLite', () => {
  const folders: string[] = [];
  beforeEach(() => {
    folders.push(mkdtempSync(join(tmpdir(), 'sluice-sizes-')));
  });
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  describeKnownSizes((config) => {
    const folder = folders.at(-1);
    return startGateway({ config, ...(folder !== undefined && { folder }) });
  });
});
