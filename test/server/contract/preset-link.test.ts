import { describe, expect, test } from 'vitest';
import { isSluiceLink, makePresetLink, readPresetLink } from '../../../server/contract/sluice-link.ts';

const preset = { teamPreset: 1, name: 'Ä 团队 ?>~', organisation: 'A' };

describe('a link with a team preset', () => {
  test('holds it whole, whatever its letters', () => {
    const link = makePresetLink(preset) ?? '';
    expect(link).toMatch(/^sluice:\/\/preset\?data=[A-Za-z0-9_-]+$/);
    expect(JSON.parse(readPresetLink(link) ?? '')).toEqual(preset);
    expect(isSluiceLink(link)).toBe(true);
  });

  test('is read as a browser may have rewritten it', () => {
    const link = makePresetLink(preset) ?? '';
    expect(readPresetLink(link.replace('preset?', 'preset/?'))).toBe(JSON.stringify(preset));
    expect(readPresetLink(link.replace('sluice', 'SLUICE'))).toBe(JSON.stringify(preset));
  });

  test('is not made of a preset that is too long for a command line', () => {
    expect(makePresetLink({ ...preset, name: 'a'.repeat(40_000) })).toBeNull();
    expect(makePresetLink({ ...preset, name: 'a'.repeat(25_000) })).toBeNull();
    expect(makePresetLink({ ...preset, name: 'a'.repeat(20_000) })).not.toBeNull();
  });

  test.each([
    ['nothing in it', 'sluice://preset?data='],
    ['more than data', 'sluice://preset?data=e30&url=https://evil.example'],
    ['an address', 'sluice://preset?url=https://evil.example/team.json'],
    ['another host', 'sluice://import?data=e30'],
    ['letters that are none of base64', 'sluice://preset?data=e*0'],
    ['bytes that are no text', 'sluice://preset?data=_w'],
    ['another scheme', 'https://preset?data=e30'],
  ])('with %s is not read', (_what, link) => {
    expect(readPresetLink(link)).toBeNull();
  });
});
