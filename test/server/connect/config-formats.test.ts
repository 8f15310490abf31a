import { describe, expect, it } from 'vitest';
import { dotenvFormat } from '../../../server/connect/dotenv-format.ts';
import { jsonFormat } from '../../../server/connect/json-format.ts';
import { type ConfigFormat, ConfigSyntaxError, mergeSettings } from '../../../server/connect/merge-settings.ts';
import { tomlFormat } from '../../../server/connect/toml-format.ts';
import { yamlFormat, yamlListFormat } from '../../../server/connect/yaml-format.ts';

const add = (format: ConfigFormat, text: string, settings: Record<string, unknown>) =>
  format.rewrite(text, mergeSettings(format.parse(text), settings));

describe('TOML', () => {
  const sluice = { name: 'Sluice', wire_api: 'responses' };
  const text = `# mine\nmodel = "o3"   # fast\n\n[projects."/home/me"]\ntrust_level = "trusted"\n\n[tui] # looks\ntheme = 'x'\n`;

  it('changes a value in its place and adds a table as a block at the end', () => {
    const changed = add(tomlFormat, text, { model: 'gpt-5', model_providers: { sluice } });
    expect(changed).toBe(
      `${text.replace('"o3"', '"gpt-5"')}\n[model_providers.sluice]\nname = "Sluice"\nwire_api = "responses"\n`,
    );
  });

  it('puts a new value above the first table', () => {
    const changed = add(tomlFormat, '[tui]\ntheme = "x"\n', { model: 'gpt-5' });
    expect(tomlFormat.parse(changed)).toEqual({ model: 'gpt-5', tui: { theme: 'x' } });
  });

  it('quotes what a bare key may not hold', () => {
    const changed = add(tomlFormat, '', { a: { 'b.c': { d: 1 } } });
    expect(tomlFormat.parse(changed)).toEqual({ a: { 'b.c': { d: 1 } } });
  });
});

describe('JSON', () => {
  it('keeps comments, trailing commas, indentation and one-line objects', () => {
    const text = `{\n    // looks\n    "theme": "dark",\n    "provider": {\n        "x": { "npm": "y" }, // mine\n    },\n}\n`;
    expect(add(jsonFormat, text, { provider: { sluice: { npm: 'z' } }, model: 'm' })).toBe(
      `{\n    // looks\n    "theme": "dark",\n    "provider": {\n        "x": { "npm": "y" }, // mine\n        "sluice": {\n            "npm": "z"\n        },\n    },\n    "model": "m",\n}\n`,
    );
  });

  it.each([
    ['an empty object', '{}'],
    ['an object on one line', '{"a": 1}'],
    ['tabs', '{\n\t"a": [1] /* one */\n\t// end\n}\n'],
    ['a comment above', '// mine\n{\n}\n'],
    ['Windows line ends', '{\r\n  "a": 1\r\n}\r\n'],
    ['nothing', ''],
  ])('adds to %s', (_, text) => {
    const changed = add(jsonFormat, text, { env: { A: 'b' } });
    expect(jsonFormat.parse(changed)).toEqual({ ...jsonFormat.parse(text), env: { A: 'b' } });
    expect(changed.includes('\r\n')).toBe(text.includes('\r\n'));
    for (const comment of text.match(/\/\/.*|\/\*.*\*\//g) ?? []) expect(changed).toContain(comment);
  });

  it('replaces a value and nothing else', () => {
    expect(add(jsonFormat, '{ "a" : 1 , "b":[ 2 ] }', { a: 3 })).toBe('{ "a" : 3 , "b":[ 2 ] }');
  });
});

describe('YAML', () => {
  const text = `# mine\nname:   Me # who\nmodels:\n- name: "Old"   # quoted\n  roles: [ chat,edit ]\n\ncontext:\n    - provider: code\n`;

  it('adds to a list with its indentation, and leaves every other line as it is', () => {
    const settings = yamlFormat.parse(text);
    const changed = yamlFormat.rewrite(text, {
      ...settings,
      models: [...(settings.models as object[]), { name: 'Sluice', model: 'm' }],
    });
    expect(changed).toBe(text.replace('edit ]\n', 'edit ]\n- name: Sluice\n  model: m\n'));
  });

  it('replaces a value in its place and adds keys at the end', () => {
    const changed = add(yamlFormat, text, { name: 'openai/x: y', 'weak-model': 'z' });
    expect(changed).toBe(`${text.replace('Me #', '"openai/x: y" #')}weak-model: z\n`);
  });

  it('fills a file that holds only comments', () => {
    expect(add(yamlFormat, '# mine\n', { model: 'm' })).toBe('# mine\nmodel: m\n');
  });
});

describe('a YAML list', () => {
  it('gets an entry behind its last one, and every other line stays as it is', () => {
    const text = '# mine\n- name: a   # first\n  roles: [ x,y ]\n# the end\n';
    const { entries } = yamlListFormat.parse(text);
    expect(yamlListFormat.rewrite(text, { entries: [...(entries as object[]), { name: 'b' }] })).toBe(
      text.replace('# the end', '- name: b\n# the end'),
    );
  });

  it.each([
    ['nothing', ''],
    ['only comments', '# mine\n'],
    ['an empty list', '[]\n'],
    ['a list on one line', '[{ name: a }]\n'],
  ])('is begun or added to in %s', (_, text) => {
    const before = (yamlListFormat.parse(text).entries ?? []) as object[];
    const changed = yamlListFormat.rewrite(text, { entries: [...before, { name: 'b' }] });
    expect(yamlListFormat.parse(changed)).toEqual({ entries: [...before, { name: 'b' }] });
    expect(changed.includes('# mine')).toBe(text.includes('# mine'));
    expect(yamlListFormat.parse(yamlListFormat.rewrite(changed, {}))).toEqual({});
  });
});

describe('a file of variables', () => {
  it('replaces and adds lines, and keeps the others', () => {
    const text = '# mine\nexport A="1"\n\nB=2 # two\n';
    expect(add(dotenvFormat, text, { B: '3', C: '4' })).toBe('# mine\nexport A="1"\n\nB=3 # two\nC=4\n');
  });
});

it.each([
  ['JSON', jsonFormat, '{\n  "a": 1,\n  "b" 2\n}', 3],
  ['a JSON list', jsonFormat, '[]', 1],
  ['TOML', tomlFormat, 'a = 1\nb = = 2\n', 2],
  ['YAML', yamlFormat, 'a:\n\t- b\n', 2],
  ['a YAML list', yamlFormat, '- a\n', 1],
  ['YAML that is to be a list', yamlListFormat, 'a: 1\n', 1],
  ['variables', dotenvFormat, 'A=1\nnot a variable\n', 2],
  ['a quote over several lines', dotenvFormat, 'A="1\n2"\n', 1],
])('says the line of a syntax error in %s', (_, format, text, line) => {
  expect(() => format.parse(text)).toThrow(ConfigSyntaxError);
  expect(() => format.parse(text)).toThrow(`line ${line}`);
});
