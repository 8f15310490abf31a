/** Configurations of other programs, in the shapes of their documents and examples. */
import { afterEach, describe, expect, test } from 'vitest';
import { type AdoptedEntry, adoptNoteTexts, verdictOf } from '../../../server/contract/change-views.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import { type ControlGateway, refusalOf, startControlGateway } from './control-gateway.ts';

/** Put together, so that nobody takes them for real ones. */
const secret = (name: string) => ['planted', name, '0123456789', 'wxyz'].join('-');

let sluice: ControlGateway | undefined;
afterEach(() => sluice?.stop());

const told = (entry: AdoptedEntry) =>
  [
    `${verdictOf(entry)} ${entry.place}`,
    ...(entry.as ? [`${entry.as.part} ${entry.as.name} (${entry.as.detail})`] : []),
    ...(entry.key ? [entry.key] : []),
    ...entry.notes.map((note) => formatMessage(adoptNoteTexts, note)),
  ].join('; ');

/** Previews the text, adds it, and compares: the lines of the preview, providers, aliases, and names in the secret store. */
async function adopted(text: string, config = {}) {
  sluice = await startControlGateway({ config });
  const { gateway, secrets } = sluice;
  const preview = await gateway.query({ type: 'adopt-preview', text });
  expect(JSON.stringify(preview)).not.toContain('planted');
  expect(await secrets.list()).toEqual([]);
  const before = (await gateway.query({ type: 'config' })).revision;
  expect(preview.revision).toBe(before);
  const done = await gateway.execute({ type: 'config.adopt', text, expectedRevision: before });
  expect(done.entries).toEqual(preview.entries);
  expect(await sluice.configText()).not.toContain('planted');
  const { config: now } = await gateway.query({ type: 'config' });
  return {
    program: preview.program,
    lines: preview.entries.map(told),
    missing: done.missingSecrets,
    providers: now.providers.map(({ id, dialect, baseUrl, models, credentials, apiVersion, serves }) => ({
      id,
      dialect,
      baseUrl,
      models,
      secrets: credentials.map((credential) => credential.secret),
      ...(apiVersion && { apiVersion }),
      ...(serves && { serves }),
    })),
    aliases: Object.fromEntries(
      now.aliases.map(({ name, targets }) => [
        name,
        targets.map((each) => `${each.priority} ${each.provider}/${each.model}`),
      ]),
    ),
    stored: Object.fromEntries(
      await Promise.all((await secrets.list()).map(async (name) => [name, await secrets.get(name)])),
    ),
  };
}

describe('LiteLLM’s config.yaml', () => {
  test('becomes a provider for each address, with aliases, fallbacks and references to variables', async () => {
    const done = await adopted(`
model_list:
  - model_name: smart
    litellm_params:
      model: openai/gpt-5.1
      api_key: ${secret('a')}
      rpm: 480
  - model_name: smart
    litellm_params: { model: azure/my-deployment, api_base: "https://acme.openai.azure.com/", api_version: "2024-10-21", api_key: ${secret('b')} }
  - model_name: cheap
    litellm_params:
      model: groq/llama-3.3-70b
      api_key: os.environ/NOT_SET_HERE
  - model_name: "anthropic/*"
    litellm_params: { model: "anthropic/*", litellm_credential_name: shared }
  - model_name: local
    litellm_params: { model: ollama_chat/qwen3, api_base: "http://localhost:11434" }
  - model_name: cloud
    litellm_params: { model: bedrock/anthropic.claude }
  - model_name: odd
    litellm_params: { model: cohere/rerank-v3 }
credential_list:
  - credential_name: shared
    credential_values: { api_key: ${secret('c')} }
router_settings:
  fallbacks: [{ smart: [cheap] }]
  model_group_alias: { gpt-4: smart, lost: nobody }
general_settings: { master_key: ${secret('m')} }
litellm_settings: { drop_params: true }
`);
    expect(done).toEqual({
      program: 'litellm',
      lines: [
        'changed model_list[0] (smart); alias smart (openai/gpt-5.1); …wxyz; without rpm',
        'taken model_list[1] (smart); alias smart (acme-openai-azure/my-deployment); …wxyz',
        'changed model_list[2] (cheap); alias cheap (groq/llama-3.3-70b); env:NOT_SET_HERE; the variable NOT_SET_HERE is not set where Sluice runs',
        'taken model_list[3] (anthropic/*); provider anthropic (https://api.anthropic.com); …wxyz',
        'taken model_list[4] (local); alias local (ollama/qwen3)',
        'left-out model_list[5] (cloud); “bedrock” needs credentials of its cloud: add it under Providers',
        'left-out model_list[6] (odd); Sluice does not know how “cohere” is addressed',
        'taken router_settings.fallbacks[0] (smart); alias smart (groq/llama-3.3-70b)',
        'taken router_settings.model_group_alias.gpt-4; alias gpt-4 (openai/gpt-5.1, acme-openai-azure/my-deployment, groq/llama-3.3-70b)',
        'left-out router_settings.model_group_alias.lost; nothing that is taken serves “nobody”',
        'left-out general_settings.master_key; Sluice makes keys of its own for clients',
        'left-out litellm_settings.drop_params; Sluice has nothing that corresponds',
      ],
      missing: ['groq/c1'],
      providers: [
        {
          id: 'openai',
          dialect: 'openai',
          baseUrl: 'https://api.openai.com/v1',
          models: ['gpt-5.1'],
          secrets: ['keychain'],
          serves: ['chat', 'responses'],
        },
        {
          id: 'acme-openai-azure',
          dialect: 'azure',
          baseUrl: 'https://acme.openai.azure.com/openai',
          models: ['my-deployment'],
          secrets: ['keychain'],
          apiVersion: '2024-10-21',
        },
        {
          id: 'groq',
          dialect: 'openai',
          baseUrl: 'https://api.groq.com/openai/v1',
          models: ['llama-3.3-70b'],
          secrets: ['env:NOT_SET_HERE'],
          serves: ['chat', 'responses'],
        },
        {
          id: 'anthropic',
          dialect: 'anthropic',
          baseUrl: 'https://api.anthropic.com',
          models: 'discover',
          secrets: ['keychain'],
        },
        { id: 'ollama', dialect: 'openai', baseUrl: 'http://localhost:11434/v1', models: ['qwen3'], secrets: [] },
      ],
      aliases: {
        smart: ['0 openai/gpt-5.1', '0 acme-openai-azure/my-deployment', '1 groq/llama-3.3-70b'],
        cheap: ['0 groq/llama-3.3-70b'],
        local: ['0 ollama/qwen3'],
        'gpt-4': ['0 openai/gpt-5.1', '0 acme-openai-azure/my-deployment', '0 groq/llama-3.3-70b'],
      },
      stored: {
        'provider/openai/c1': secret('a'),
        'provider/acme-openai-azure/c1': secret('b'),
        'provider/anthropic/c1': secret('c'),
      },
    });
  });

  test('changes nothing that is there, and nothing when it is added again', async () => {
    const text = `model_list: [{ model_name: smart, litellm_params: { model: openai/gpt-5.1, api_key: ${secret('a')} } }]`;
    const own = {
      providers: [{ id: 'mine', baseUrl: 'https://api.openai.com/v1', credentials: [{ id: 'x', secret: 'env:MINE' }] }],
    };
    const done = await adopted(text, own);
    expect(done.lines).toEqual([
      'changed model_list[0] (smart); alias smart (mine/gpt-5.1); calls the provider “mine” that is there already, with its own credential',
    ]);
    expect(done.providers).toMatchObject([{ id: 'mine', secrets: ['env:MINE'] }]);
    const again = await sluice?.gateway.query({ type: 'adopt-preview', text });
    expect(again?.entries.map(told)).toEqual(['left-out model_list[0] (smart); the alias “smart” is there already']);
  });
});

test('claude-code-router’s config.json becomes providers, and its routes names that clients ask for', async () => {
  const done = await adopted(`{
  // as in its example
  "Providers": [
    { "name": "deepseek", "api_base_url": "https://api.deepseek.com/chat/completions", "api_key": "${secret('a')}",
      "models": ["deepseek-chat", "deepseek-reasoner"], "transformer": { "use": ["deepseek", ["maxtoken", { "max_tokens": 9 }]] } },
    { "name": "ollama", "api_base_url": "http://localhost:11434/v1/chat/completions", "api_key": "", "models": ["qwen3"] },
    { "name": "g", "api_base_url": "https://generativelanguage.googleapis.com/v1beta/models/", "api_key": "$NOT_SET_HERE",
      "models": ["gemini-2.5-pro"], "transformer": { "use": ["gemini"] } },
  ],
  "Router": { "default": "deepseek,deepseek-chat", "think": "nobody,x", "longContextThreshold": 60000 },
  "APIKEY": "${secret('m')}",
}`);
  expect(done).toMatchObject({
    program: 'claude-code-router',
    lines: [
      'changed Providers[0] (deepseek); provider deepseek (https://api.deepseek.com); …wxyz; without transformer',
      'taken Providers[1] (ollama); provider ollama (http://localhost:11434/v1)',
      'changed Providers[2] (g); provider g (https://generativelanguage.googleapis.com/v1beta); env:NOT_SET_HERE; without transformer; the variable NOT_SET_HERE is not set where Sluice runs',
      'changed Router.default; alias default (deepseek/deepseek-chat); Sluice does not choose by what a request contains: clients ask for the model “default”',
      'left-out Router.think; nothing that is taken serves “nobody,x”',
      'left-out Router.longContextThreshold; Sluice has nothing that corresponds',
      'left-out APIKEY; Sluice makes keys of its own for clients',
    ],
    aliases: { default: ['0 deepseek/deepseek-chat'] },
    stored: { 'provider/deepseek/c1': secret('a') },
  });
  expect(done.providers.map(({ dialect, models }) => [dialect, models])).toEqual([
    ['openai', ['deepseek-chat', 'deepseek-reasoner']],
    ['openai', ['qwen3']],
    ['gemini', ['gemini-2.5-pro']],
  ]);
});

describe('CC Switch', () => {
  const claude = {
    env: {
      ANTHROPIC_BASE_URL: 'https://api.moonshot.example/anthropic',
      ANTHROPIC_AUTH_TOKEN: secret('a'),
      ANTHROPIC_MODEL: 'kimi',
    },
  };
  const codex = {
    auth: { OPENAI_API_KEY: secret('b') },
    config:
      'model_provider = "custom"\nmodel = "gpt-5.1"\n[model_providers.custom]\nbase_url = "https://relay.example/v1"\nwire_api = "responses"\n',
  };
  const lines = [
    'taken claude (Kimi); provider kimi (https://api.moonshot.example/anthropic); …wxyz',
    'left-out claude (Official); it signs in with an account and has no credential',
    'taken codex (Relay); provider relay (https://relay.example/v1); …wxyz',
    'taken gemini (G); provider g (https://relay.example/v1beta); …wxyz',
  ];
  const providers = [
    { id: 'kimi', dialect: 'anthropic', models: ['kimi'] },
    { id: 'relay', dialect: 'openai', models: ['gpt-5.1'], serves: ['responses'] },
    { id: 'g', dialect: 'gemini', models: 'discover' },
  ];
  const stored = {
    'provider/kimi/c1': secret('a'),
    'provider/relay/c1': secret('b'),
    'provider/g/c1': secret('c'),
  };
  const gemini = { env: { GEMINI_API_KEY: secret('c'), GOOGLE_GEMINI_BASE_URL: 'https://relay.example/' } };

  test('is read from its config.json', async () => {
    const text = JSON.stringify({
      version: 2,
      claude: {
        providers: {
          one: { id: 'one', name: 'Kimi', settingsConfig: claude },
          two: { id: 'two', name: 'Official', settingsConfig: { env: {} } },
        },
        current: 'one',
      },
      codex: { providers: { r: { id: 'r', name: 'Relay', settingsConfig: codex } }, current: 'r' },
      gemini: { providers: { g: { id: 'g', name: 'G', settingsConfig: gemini } }, current: 'g' },
      mcp: { servers: {} },
    });
    expect(await adopted(text)).toMatchObject({
      program: 'cc-switch',
      lines: [...lines, 'left-out mcp; Sluice has nothing that corresponds'],
      providers,
      stored,
    });
  });

  test('is read from the SQL that it exports, which is not run', async () => {
    const value = (settings: object) => `'${JSON.stringify(settings).replaceAll("'", "''")}'`;
    const text = `-- CC Switch SQLite 导出
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE providers (id TEXT NOT NULL, app_type TEXT NOT NULL, name TEXT, settings_config TEXT, meta TEXT DEFAULT '{;}');
ATTACH DATABASE '/nowhere/sluice-test.db' AS evil;
INSERT INTO "settings" ("key", "value") VALUES ('it''s', X'00');
INSERT INTO "providers" ("id", "app_type", "name", "settings_config", "meta") VALUES ('1', 'claude', 'Kimi', ${value(claude)}, '{}'),('2', 'claude', 'Official', ${value({ env: {} })}, NULL);
INSERT INTO "providers" ("id", "app_type", "name", "settings_config", "meta") VALUES ('3', 'codex', 'Relay', ${value(codex)}, '{}'),('4', 'gemini', 'G', ${value(gemini)}, '{}');
COMMIT;
`;
    expect(await adopted(text)).toMatchObject({ program: 'cc-switch', lines, providers, stored });
  });

  test('is read from links that a person pastes', async () => {
    const link = (fields: Record<string, string>) =>
      `ccswitch://v1/import?${new URLSearchParams({ resource: 'provider', ...fields })}`;
    const text = [
      link({
        app: 'claude',
        name: 'Kimi',
        endpoint: 'https://api.moonshot.example/anthropic',
        apiKey: secret('a'),
        model: 'kimi',
      }),
      link({ app: 'codex', name: 'Relay', config: Buffer.from(JSON.stringify(codex)).toString('base64') }),
      link({
        app: 'gemini',
        name: 'G',
        endpoint: 'https://relay.example,https://two.example',
        apiKey: secret('c'),
        usageScript: 'x',
      }),
      link({ resource: 'mcp', apps: 'claude' }),
    ].join('\n');
    expect(await adopted(text)).toMatchObject({
      program: 'cc-switch',
      lines: [
        lines[0],
        lines[2],
        `changed${lines[3]?.slice('taken'.length)}; without endpoint, usageScript`,
        'left-out link 4; Sluice has nothing that corresponds',
      ],
      providers,
      stored,
    });
  });
});

test('a file of environment variables becomes providers of the services that read them', async () => {
  const done = await adopted(`# keys
export OPENAI_API_KEY="${secret('a')}"
ANTHROPIC_AUTH_TOKEN=${secret('b')}
ANTHROPIC_BASE_URL=https://relay.example/anthropic
DEEPSEEK_BASE_URL=https://api.deepseek.com
MISTRAL_API_KEY=
DATABASE_URL=postgres://u:planted@db/x
SLUICE_KEY=sk-sluice-abc
`);
  expect(done).toMatchObject({
    program: 'environment',
    lines: [
      'taken OPENAI_API_KEY; provider openai (https://api.openai.com/v1); …wxyz',
      'taken ANTHROPIC_AUTH_TOKEN; provider anthropic (https://relay.example/anthropic); …wxyz',
      'taken ANTHROPIC_BASE_URL; provider anthropic (https://relay.example/anthropic); …wxyz',
      'left-out DEEPSEEK_BASE_URL; it is an address, and DEEPSEEK_API_KEY is missing',
      'left-out MISTRAL_API_KEY; it is empty',
      'left-out DATABASE_URL; Sluice has nothing that corresponds',
      'left-out SLUICE_KEY; Sluice makes keys of its own for clients',
    ],
    stored: { 'provider/openai/c1': secret('a'), 'provider/anthropic/c1': secret('b') },
  });
});

test('an address of Sluice itself is left out, and the rest is taken', async () => {
  sluice = await startControlGateway();
  const text = `OPENAI_API_KEY=${secret('a')}\nOPENAI_BASE_URL=${sluice.baseUrl}\nGROQ_API_KEY=${secret('b')}\n`;
  const { entries } = await sluice.gateway.query({ type: 'adopt-preview', text });
  expect(entries.map(verdictOf)).toEqual(['left-out', 'left-out', 'taken']);
  expect(entries[0]?.refusal).toEqual({ code: 'leads-back', host: new URL(sluice.baseUrl).host });
});

test.each([
  ['prose', 'Once upon a time', 'There is a syntax error in line 1'],
  ['another JSON', '{ "name": "x" }', 'This is no configuration of Sluice, LiteLLM'],
  ['broken JSON', '{\n"Providers": [\n', 'syntax error in line 3'],
  ['broken YAML', 'model_list:\n  - model_name: [a\n', 'syntax error in line'],
  ['an alias that nothing defines', 'model_list: *nowhere\n', 'syntax error in line 1'],
  ['a list that is none', 'model_list: 5', 'at model_list there should be a list'],
  [
    'a deployment without its service',
    'model_list: [{ model_name: a }]',
    'at model_list[0].litellm_params there should be an object',
  ],
  [
    'a model that is a number',
    'model_list: [{ model_name: a, litellm_params: { model: 5 } }]',
    'at model_list[0].litellm_params.model there should be a text',
  ],
  [
    'an address that is none',
    '{"Providers":[{"name":"a","api_base_url":"ftp://a.example","models":[]}]}',
    'at Providers[0].api_base_url there should be an address',
  ],
  [
    'a key that is no header',
    `OPENAI_API_KEY=${secret('a')}é`,
    'at OPENAI_API_KEY there should be a key of printable ASCII',
  ],
  [
    'a link of another kind',
    'ccswitch://v2/import?resource=provider',
    'at link 1 there should be ccswitch://v1/import',
  ],
  [
    'SQL that stops',
    `-- CC Switch SQLite\nINSERT INTO "providers" ("id") VALUES ('${secret('a')}`,
    'at line 2 there should be a value',
  ],
  ['a line of .env that is none', `OPENAI_API_KEY=${secret('a')}\nnonsense\n`, 'syntax error in line 2'],
])(
  '%s is answered with a sentence that names the place and quotes no key, and nothing is taken',
  async (_, text, sentence) => {
    sluice = await startControlGateway();
    for (const ask of [
      () => sluice?.gateway.query({ type: 'adopt-preview', text }),
      () => sluice?.gateway.execute({ type: 'config.adopt', text }),
    ]) {
      const refused = await refusalOf(Promise.resolve(ask()));
      expect(refused.message.toLowerCase()).toContain(sentence.toLowerCase());
      expect(refused.message).not.toContain('planted');
    }
    expect((await sluice.gateway.query({ type: 'config' })).revision).toBe(1);
    expect(await sluice.secrets.list()).toEqual([]);
  },
);
