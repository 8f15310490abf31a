import { assert, dictionary, jsonValue, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFormat } from '../../../server/connect/json-format.ts';
import { mergeSettings, revertSettings, SettingsConflict, withEntry } from '../../../server/connect/merge-settings.ts';

/** No client has a setting named `__proto__`, which `jsonc-parser` assigns as JavaScript does. */
const settings = dictionary(string({ minLength: 1, maxLength: 3 }), jsonValue({ maxDepth: 2 }), {
  maxKeys: 4,
}).filter((value) => !JSON.stringify(value).includes('"__proto__":'));
const ours = { env: { URL: 'http://127.0.0.1:4810', MODEL: 'm' }, model: 'm' };

describe('settings that are taken back', () => {
  it('are those of before, whatever they were', () => {
    assert(
      property(settings, (before) => {
        const applied = mergeSettings({ ...before, env: {} }, ours);
        expect(revertSettings(applied, applied, before)).toEqual(before);
      }),
    );
  });

  it('keep what others have added since then', () => {
    assert(
      property(settings, settings, (before, added) => {
        const current = { ...mergeSettings({ ...before, env: {} }, ours), 'added since': added };
        const left = revertSettings(current, mergeSettings({ ...before, env: {} }, ours), before);
        expect(left).toEqual({ ...before, 'added since': added });
      }),
    );
  });

  it('keep what others have changed in Sluice’s own section and list', () => {
    const applied = { env: { URL: 'u', MODEL: 'm' }, models: [{ name: 'old' }, { name: 'Sluice' }] };
    const current = {
      env: { URL: 'u', MODEL: 'theirs' },
      models: [{ name: 'new' }, { name: 'old' }, { name: 'Sluice' }],
    };
    expect(revertSettings(current, applied, { models: [{ name: 'old' }] })).toEqual({
      env: { MODEL: 'theirs' },
      models: [{ name: 'new' }, { name: 'old' }],
    });
  });
});

it('JSON that is rewritten contains the given settings, whatever they are', () => {
  assert(
    property(settings, settings, (before, after) => {
      for (const indent of [0, 2]) {
        const text = JSON.stringify(before, null, indent);
        const read = jsonFormat.parse(text);
        expect(jsonFormat.parse(jsonFormat.rewrite(text, after))).toEqual(JSON.parse(JSON.stringify(after)));
        expect(jsonFormat.rewrite(text, read)).toBe(text);
      }
    }),
  );
});

describe('an entry of a list', () => {
  const isSluice = ({ name }: Record<string, unknown>) => name === 'Sluice';

  it('takes the place of the one before, else stands at the end', () => {
    const entry = { name: 'Sluice', model: 'new' };
    expect(withEntry([{ name: 'Sluice', model: 'old' }, { name: 'x' }], entry, isSluice)).toEqual([
      entry,
      { name: 'x' },
    ]);
    expect(withEntry([{ name: 'x' }], entry, isSluice)).toEqual([{ name: 'x' }, entry]);
    expect(withEntry(undefined, entry, isSluice)).toEqual([entry]);
  });

  it('is refused where there is no list', () => {
    expect(() => withEntry('x', {}, isSluice)).toThrow(SettingsConflict);
  });
});
