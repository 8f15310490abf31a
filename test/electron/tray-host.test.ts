import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isTrayShown } from '../../electron/tray-host.ts';
import { onlyIf } from '../support/only-if.ts';

/** Contains all programs that can be found. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-tray-'));
  vi.stubEnv('PATH', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function addTool(name: string, script: string): void {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

describe.runIf(onlyIf(process.platform !== 'win32', 'the tools of the bus are played by shell scripts'))(
  'a tray on Linux',
  () => {
    it.each([
      ['gdbus', 'echo "(<true>,)"', true],
      ['dbus-send', 'echo "   variant       boolean true"', true],
      ['busctl', 'echo "b true"', true],
      ['gdbus', 'echo "(<false>,)"', false],
      ['gdbus', 'echo "true" >&2; exit 1', false],
    ])('is known by %s, which says: %s', async (tool, script, isShown) => {
      addTool(tool, script);
      expect(await isTrayShown(0)).toBe(isShown);
    });

    it('is queried with the next tool if one fails', async () => {
      addTool('gdbus', 'exit 1');
      addTool('dbus-send', 'echo "   variant       boolean true"');
      expect(await isTrayShown(0)).toBe(true);
    });

    it('counts as missing if no tool can be run', async () => {
      expect(await isTrayShown(0)).toBe(false);
    });

    it('may come a little later than Sluice', async () => {
      const asked = join(folder, 'asked');
      addTool(
        'gdbus',
        `if [ -e "${asked}" ]; then echo "(<true>,)"; else echo once > "${asked}"; echo "(<false>,)"; fi`,
      );
      expect(await isTrayShown(0)).toBe(true);
      expect(readFileSync(asked, 'utf8')).toBe('once\n');
    });
  },
);
