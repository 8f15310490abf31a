/** Every writer leaves what is not Sluice's as it was: `export`, comments, line ends, byte order marks, last lines. */
import { describe, expect, it } from 'vitest';
import { type ClientFile, configurableClients, type WantedConnection } from '../../../server/connect/client-files.ts';
import { connectedText, disconnectedText } from '../../../server/connect/plan-client-files.ts';
import { clientSettings } from './client-settings.ts';

const wanted: WantedConnection = {
  baseUrl: 'http://127.0.0.1:4810/v1',
  model: 'acme/gpt-5',
  secret: 'sk-sluice-x',
  keyFile: null,
};
const pathOf = ({ folder, names }: ClientFile, name = names[0]) => (folder === '' ? name : `${folder}/${name}`);
const textOf = (file: ClientFile) =>
  file.names.map((name) => clientSettings[pathOf(file, name)]).find((text) => text !== undefined) ?? '';

/** Settings of Sluice's own that were set to something else before, on lines with comments of their own. */
const setBefore: Record<string, string> = {
  '.codex/config.toml': '# mine\nmodel = "o3" # fast\nmodel_provider = "azure"   # at work\nlast = 1 # end\n',
  '.gemini/settings.json': '{\n  "model": {\n    "name": "old" // fast\n  }\n}\n',
  '.gemini/.env': '# mine\nexport GOOGLE_GEMINI_BASE_URL="http://old" # at work\nexport LAST=\'x # y\' # end\n',
  '.config/opencode/opencode.jsonc': '{\n  "model": "old", // fast\n  "last": 1 /* end */\n}\n',
  '.qwen/settings.json': '{\n  "model": { "name": "old" }, // fast\n  "modelProviders": {}\n}\n',
  '.qwen/.env': 'export OPENAI_MODEL=old # fast\nexport LAST=1 # end\n',
  '.config/zed/settings.json': '{\n  // mine\n  "disable_ai": true, // quiet\n  "last": 1 // end\n}\n',
  '.config/Code/User/settings.json':
    '{\n  // mine\n  "chat.disableAIFeatures": true, // quiet\n  "last": 1 // end\n}\n',
  '.continue/config.yaml': 'name: Me # who\nmodels:\n- name: Sluice\n  model: old # fast\nlast: 1 # end\n',
  '.aider.conf.yml': '# mine\nmodel: old # fast\nopenai-api-base: http://old   # at work\nlast: 1 # end\n',
  '.aider.model.settings.yml': '# mine\n- name: aider/extra_params # all\n  extra_params:\n    timeout: 30 # long\n',
  '.env': 'export AIDER_MODEL=old # fast\nexport LAST=1 # end\n',
  'LibreChat/librechat.yaml': 'version: 1.3.0 # now\nmodelSpecs:\n  enforce: true # only\n  list: [] # none\n',
  'LibreChat/.env': 'export ENDPOINTS="openAI" # ours\nexport LAST=1 # end\n',
};

const layouts: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  'with CRLF': (text) => text.replaceAll('\n', '\r\n'),
  'with a byte order mark': (text) => `\uFEFF${text}`,
  'with a byte order mark and CRLF': (text) => `\uFEFF${text.replaceAll('\n', '\r\n')}`,
  'without a final line end': (text) => text.replace(/\n$/, ''),
  'with CRLF, but without a final line end': (text) => text.replaceAll('\n', '\r\n').replace(/\r\n$/, ''),
};

const cases = configurableClients
  .flatMap(({ files }) => files)
  .flatMap((file) => {
    const texts = [
      textOf(file),
      setBefore[file.names.map((name) => pathOf(file, name)).find((path) => setBefore[path]) ?? ''],
    ];
    return texts
      .filter((text) => text)
      .flatMap((text = '') =>
        Object.entries(layouts).map(([layout, change]) => ({
          ...{ path: pathOf(file), file, layout, change, original: text, text: change(text) },
        })),
      );
  });

const linesOf = (text: string) => text.replace(/^\uFEFF/, '').split(/\r?\n/);
const commentsOf = (text: string) => text.match(/(?<=\s|^)(?:#|\/\/|\/\*) [\w ]+/gm) ?? [];

describe.each(cases)('$path $layout', ({ file, text, layout, change, original }) => {
  const changed = connectedText(file, text, wanted).text;

  it('keeps byte order mark and line ends', () => {
    expect(changed.startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'));
    expect(/\r\n/.test(changed)).toBe(/\r\n/.test(text));
    expect(/(?<!\r)\n/.test(changed)).toBe(!/\r\n/.test(text));
  });

  it('keeps the comment of every line that stays, and every `export`', () => {
    const removed = linesOf(text).filter((line) => /disable|OPENAI_MODEL|AIDER_MODEL|enforce/.test(line));
    const kept = commentsOf(text).filter((comment) => !removed.some((line) => line.includes(comment)));
    for (const comment of kept) expect(changed).toContain(comment);
    const exported = [...text.matchAll(/export (\w+)/g)].map(([, name]) => name);
    const stay = exported.filter((name) => new RegExp(`\\b${name}=`).test(changed));
    for (const name of stay) expect(changed).toMatch(new RegExp(`export ${name}=`));
  });

  it('is changed in the same way, however its lines end', () => {
    if (layout.includes('final')) return;
    expect(changed).toBe(change(connectedText(file, original, wanted).text));
  });

  it('is what it was when the change is taken back', () => {
    expect(disconnectedText(file.format, { before: text, applied: changed }, changed)).toBe(text);
  });

  it('keeps them too when the change is taken back after somebody else has added to it', () => {
    const eol = /\r\n/.test(text) ? '\r\n' : '\n';
    if (!/^(toml|env|yml|yaml)$/.test(pathOf(file).split('.').at(-1) ?? '')) return;
    const addition = pathOf(file).endsWith('.env') ? 'ADDED=1' : pathOf(file).endsWith('toml') ? '[added]' : '# added';
    const current = `${changed}${changed.endsWith('\n') ? '' : eol}${addition}${eol}`;
    const left = disconnectedText(file.format, { before: text, applied: changed }, current) ?? '';
    expect(left.startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'));
    expect(/(?<!\r)\n/.test(left)).toBe(!/\r\n/.test(text));
    expect(left).toContain(addition);
  });
});
