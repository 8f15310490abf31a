import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAutostartEntry, createLoginItem } from '../../electron/login-item.ts';
import { app } from './double/app.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-login-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('start at login', () => {
  it('is off until it is asked for, and then as the system has it', () => {
    const item = createLoginItem(app);
    expect(item.isOn).toBe(false);
    item.set(true);
    expect(item.isOn).toBe(true);
    item.set(false);
    expect(item.isOn).toBe(false);
  });

  it('is an autostart entry on Linux, whose program begins in the tray', () => {
    const autostart = join(folder, 'autostart');
    const item = createAutostartEntry(autostart, '/opt/My "Apps"/100%/sluice');
    expect(item.isOn).toBe(false);
    item.set(true);
    expect(item.isOn).toBe(true);
    expect(readFileSync(join(autostart, 'sluice.desktop'), 'utf8').split('\n')).toContain(
      'Exec="/opt/My \\"Apps\\"/100%%/sluice" --hidden',
    );
    item.set(false);
    expect(existsSync(join(autostart, 'sluice.desktop'))).toBe(false);
  });

  it('says why it could not be changed', () => {
    writeFileSync(join(folder, 'autostart'), 'no folder');
    const item = createAutostartEntry(join(folder, 'autostart'), '/opt/sluice');
    expect(() => item.set(true)).toThrow(/^Start at login could not be changed: E/);
  });
});
