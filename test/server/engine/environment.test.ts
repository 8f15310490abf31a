import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../server/engine/environment.ts';
import { onlyIf } from '../../support/only-if.ts';

test('logs go to the system’s own place, but into a data folder that was chosen', () => {
  const { dataDir, systemLogDir } = readEnvironment({});
  expect(systemLogDir?.startsWith(dataDir)).toBe(false);
  expect(systemLogDir?.toLowerCase()).toContain('sluice');
  expect(readEnvironment({ SLUICE_DATA_DIR: '/somewhere/else' }).systemLogDir).toBeNull();
});

test.runIf(onlyIf(process.platform === 'linux', 'other systems have no folder of states'))(
  'on Linux that is the folder of states',
  () => {
    expect(basename(join(readEnvironment({}).systemLogDir ?? '', '..'))).toBe('state');
  },
);

test('proxies are read in small letters first', () => {
  const { proxies } = readEnvironment({ HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2', NO_PROXY: 'x' });
  expect(proxies).toEqual({ httpProxy: undefined, httpsProxy: 'http://b:2', noProxy: 'x' });
});
