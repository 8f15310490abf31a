import { describe, expect, test } from 'vitest';
import { redactSecretShapes, secretRanges, secretRules } from '../../../server/contract/secret-shape.ts';
import { redactLogText } from '../../../server/ground/files/log.ts';
import { cpuMsOf } from '../../support/cpu-work.ts';

/** Digits and letters of this length, as keys have them; made up, and put together here so that no scanner takes them for real. */
const mixed = (length: number) => 'a1B2c3D4e5F6g7H8i9J0'.repeat(20).slice(0, length);
const hex = (length: number) => '0123456789abcdef'.repeat(10).slice(0, length);
const upper = (length: number) => 'A1B2C3D4E5F6G7H8'.repeat(10).slice(0, length);

/** The part of it that does not depend on what is before. */
const inBase64 = (before: string, key: string) =>
  Buffer.from(before + key)
    .toString('base64url')
    .slice(Math.ceil((before.length * 8) / 6));

/** At least one key of each rule, by what it is of. */
const keys: Readonly<Record<string, readonly string[]>> = {
  Sluice: [`sk-sluice-${mixed(48)}`, ...['', 'u', 'me'].map((before) => inBase64(before, `sk-sluice-${mixed(48)}`))],
  'OpenAI, Anthropic, OpenRouter, DeepSeek and Stripe': [
    `sk-proj-${mixed(20)}_${mixed(20)}-${mixed(20)}`,
    `sk-ant-api03-${mixed(90)}AA`,
    `sk-or-v1-${hex(64)}`,
    `sk_live_${mixed(24)}`,
  ],
  Groq: [`gsk_${mixed(52)}`],
  'Hugging Face': [`hf_${mixed(34)}`],
  'Hugging Face, for organisations': [`api_org_${mixed(34)}`],
  Replicate: [`r8_${mixed(37)}`],
  NVIDIA: [`nvapi-${mixed(64)}`],
  xAI: [`xai-${mixed(80)}`],
  Perplexity: [`pplx-${mixed(48)}`],
  Cerebras: [`csk-${mixed(48)}`],
  Tavily: [`tvly-dev-${mixed(32)}`],
  Fireworks: [`fw_${mixed(24)}`],
  Together: [`tgp_v1_${mixed(43)}`],
  Jina: [`jina_${mixed(40)}`],
  Voyage: [`pa-${mixed(43)}`],
  Pinecone: [`pcsk_${mixed(60)}`],
  Firecrawl: [`fc-${hex(32)}`],
  LangSmith: [`lsv2_pt_${hex(32)}_${hex(10)}`],
  Zhipu: [`.${mixed(16)}`],
  AWS: ['AKIA', 'ASIA', 'A3TX'].map((kind) => `${kind}${upper(16)}`),
  Bedrock: [`ABSK${mixed(128)}==`],
  'Bedrock, for a short time': [`bedrock-api-key-${mixed(200)}`],
  Google: [`AIza${mixed(35)}`],
  'Google Vertex AI': [`AQ.Ab8${mixed(45)}`],
  'Google OAuth': [`ya29.a0${mixed(100)}`],
  'Google OAuth, for clients': [`GOCSPX-${mixed(28)}`],
  'Google OAuth, for renewal': [`1//0g${mixed(60)}`],
  'Azure Storage': [`AccountKey=${mixed(86)}==`],
  'Entra ID': [`abc8Q~${mixed(34)}`],
  'Alibaba Cloud': [`LTAI${mixed(20)}`],
  'Tencent Cloud': [`AKID${mixed(32)}`],
  DigitalOcean: [`dop_v1_${hex(64)}`],
  'Fly.io': [`fm2_${mixed(100)}`, `fo1_${mixed(43)}`],
  'Cloudflare, for origins': [`v1.0-${hex(24)}-${hex(146)}`],
  'ClickHouse Cloud': [`4b1d${mixed(38)}`],
  'Defined Networking': [`dnkey-${mixed(26)}-${mixed(52)}`],
  MaxMind: [`${mixed(6)}_${mixed(29)}_mmk`],
  Mapbox: [`pk.${mixed(60)}.${mixed(22)}`],
  OpenShift: [`sha256~${mixed(43)}`],
  Scalingo: [`tk-us-${mixed(48)}`],
  'Yandex Cloud': [`AQVN${mixed(35)}`],
  'Yandex Cloud, for a time': [`t1.${mixed(20)}.${mixed(86)}`],
  'Yandex Cloud, for storage': [`YC${mixed(38)}`],
  Databricks: [`dapi${hex(32)}-2`],
  Supabase: [`sbp_${hex(40)}`, `sb_secret_${mixed(31)}`],
  Netlify: [`nfp_${mixed(36)}`],
  PlanetScale: [`pscale_tkn_${mixed(43)}`],
  Heroku: [`HRKU-AA${mixed(58)}`],
  GitHub: [`ghp_${mixed(36)}`, `gho_${mixed(36)}`, `ghs_${mixed(36)}`],
  'GitHub, fine-grained': [`github_pat_${mixed(22)}_${mixed(59)}`],
  GitLab: [`glpat-${mixed(20)}`, `glffct-${mixed(20)}`, `glpat-${mixed(30)}.01a2b3c4d`, `gldt-${mixed(20)}`],
  'GitLab, for runners': [`GR1348941${mixed(20)}`],
  'GitLab, sessions': [hex(32)],
  Atlassian: [`ATATT3xFfGF0${mixed(170)}=${upper(8)}`],
  npm: [`npm_${mixed(36)}`],
  PyPI: [`pypi-AgEIcHlwaS5vcmc${mixed(80)}`],
  RubyGems: [`rubygems_${hex(48)}`],
  Docker: [`dckr_pat_${mixed(27)}`],
  'HashiCorp Vault': [`hvs.${mixed(90)}`],
  'HashiCorp Vault, earlier': [`s.${mixed(24)}`],
  Terraform: [`atlasv1.${mixed(60)}`],
  Artifactory: [`AKCp${mixed(69)}`],
  'Artifactory, references': [`cmVmd${mixed(59)}`],
  Clojars: [`CLOJARS_${hex(60)}`],
  Harness: ['pat', 'sat'].map((kind) => `${kind}.${mixed(22)}.${mixed(24)}.${mixed(20)}`),
  'Octopus Deploy': [`API-${upper(26)}`],
  Sourcegraph: [`sgp_${hex(40)}`, `sgp_${hex(16)}_${hex(40)}`, `sgp_local_${hex(40)}`],
  Prefect: [`pnu_${mixed(36)}`],
  Infracost: [`ico-${mixed(32)}`],
  ReadMe: [`rdme_${mixed(70)}`],
  Settlemint: ['a', 'p', 's'].map((kind) => `sm_${kind}at_${mixed(16)}`),
  '1Password': [
    `A3-${upper(6)}-${upper(11)}-${upper(5)}-${upper(5)}-${upper(5)}`,
    `A3-${upper(6)}-${upper(6)}-${upper(5)}-${upper(5)}-${upper(5)}-${upper(5)}`,
  ],
  '1Password, for services': [`ops_eyJ${mixed(260)}==`],
  Pulumi: [`pul-${hex(40)}`],
  Doppler: [`dp.pt.${mixed(43)}`],
  age: [`AGE-SECRET-KEY-1${upper(58)}`],
  Slack: ['b', 'p', 'a', 'r', 's'].map((kind) => `xox${kind}-123456789012-1234567890123-${mixed(24)}`),
  'Slack, of apps': [`xapp-1-A0123456789-1234567890123-${hex(64)}`],
  'Slack, webhooks': [`hooks.slack.com/services/T00000000/B00000000/${mixed(24)}`],
  'Microsoft Teams, webhooks': [
    `webhook.office.com/webhookb2/${hex(8)}-${hex(4)}@${hex(12)}/IncomingWebhook/${hex(32)}/${hex(8)}-${hex(12)}`,
  ],
  Typeform: [`tfp_${mixed(44)}_${mixed(14)}`],
  'Frame.io': [`fio-u-${mixed(64)}`],
  Adobe: [`p8e-${mixed(32)}`],
  '42': [`s-s4t2ud-${hex(64)}`],
  Discord: [`MTA${mixed(23)}.${mixed(6)}.${mixed(38)}`],
  Telegram: [`1234567890:AA${mixed(33)}`],
  Notion: [`ntn_${mixed(46)}`],
  Linear: [`lin_api_${mixed(40)}`],
  Figma: [`figd_${mixed(40)}`],
  Airtable: [`pat${mixed(14)}.${hex(64)}`],
  Postman: [`PMAK-${hex(24)}-${hex(34)}`],
  HubSpot: [`pat-na1-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`],
  'Facebook, for applications': [`${'1234567890'.repeat(2).slice(0, 15)}|${mixed(27)}`],
  Dropbox: [`sl.${mixed(135)}`],
  Authress: [`sc_${mixed(12)}.${mixed(4)}.acc-${mixed(12)}.${mixed(40)}`],
  Facebook: [`EAAM${mixed(120)}`],
  Stripe: [`rk_live_${mixed(24)}`, `rk_prod_${mixed(24)}`],
  'Stripe and others, published': [`pk-lf-${mixed(30)}`],
  'Stripe, webhooks': [`whsec_${mixed(32)}`],
  Square: [`sq0atp-${mixed(22)}`, `EAAA${mixed(26)}_${mixed(20)}`],
  EasyPost: [`EZAK${mixed(54)}`, `EZTK${mixed(54)}`],
  Flutterwave: [`FLWSECK_TEST-${hex(32)}-X`, `FLWSECK-${hex(32)}-X`],
  Duffel: [`duffel_live_${mixed(43)}`],
  Shippo: [`shippo_live_${hex(40)}`],
  Shopify: [`shpat_${hex(32)}`],
  Twilio: [`SK${hex(32)}`],
  SendGrid: [`SG.${mixed(22)}.${mixed(43)}`],
  Mailgun: [`key-${hex(32)}`, `pubkey-${hex(32)}`],
  'Mailgun, for webhooks': [`${'a1b2c3d4'.repeat(4)}-a1b2c3d4-e5f6a7b8`],
  Mailchimp: [`${hex(32)}-us21`],
  Plaid: [`access-sandbox-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`],
  Lob: [`live_${hex(35)}`, `test_pub_${hex(31)}`],
  GoCardless: [`live_${mixed(40)}`],
  Brevo: [`xkeysib-${hex(64)}-${mixed(16)}`],
  'New Relic': [`NRAK-${upper(27)}`],
  Sentry: [`sntrys_${mixed(120)}=_${mixed(43)}`],
  'Grafana, earlier': [`eyJrIjoi${mixed(80)}`],
  Grafana: [`glsa_${mixed(32)}_${hex(8)}`],
  Dynatrace: [`dt0c01.${upper(24)}.${upper(64)}`],
  'signed tokens (JWT)': [`eyJ${mixed(30)}.eyJ${mixed(60)}.${mixed(43)}`],
  'signed tokens (JWT), in base64': [`ZXlK${mixed(120)}`],
  headers: ['planted-4711'],
  'addresses with a password': ['user:pa55word'],
  'private keys (PEM)': [
    `-----BEGIN PRIVATE KEY-----\n${mixed(64)}\n${mixed(64)}==\n-----END PRIVATE KEY-----`,
    `-----BEGIN RSA PRIVATE KEY-----\\n${mixed(64)}`,
  ],
};
/** What must stand before it. */
const contexts: Readonly<Record<string, string>> = {
  headers: 'Authorization: Bearer ',
  Terraform: `${mixed(14)}.`,
  Zhipu: hex(32),
  'GitLab, sessions': '_gitlab_session=',
  'addresses with a password': 'postgres://',
};

describe('a key of each rule is found as a whole', () => {
  test.each(secretRules.map(({ of }) => of))('%s', (of) => {
    expect(keys[of]?.length).toBeGreaterThan(0);
    for (const key of keys[of] ?? []) {
      const before = `"a": ${contexts[of] ?? ''}`;
      const after = of === 'addresses with a password' ? '@host' : '", and more';
      const text = `${before}${key}${after}`;
      expect(redactSecretShapes(text)).toBe(`${before}[redacted]${after}`);
      expect(secretRanges(text)).toContainEqual({ start: before.length, end: before.length + key.length });
      expect(redactLogText(text)).not.toContain(key);
    }
  });
});

test.each([
  'xai-grok-4-fast-reasoning-latest',
  'gpt-4.1-mini-2026-04-14',
  'claude-opus-4-6-20260205',
  'nvidia/llama-3.3-nemotron-super-49b-v1.5',
  'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8',
  'accounts/fireworks/models/qwen3-235b-a22b-instruct-2507',
  'chatcmpl-9f8e7d6c5b4a39281706f5e4d3c2b1a0',
  'msg_01XFDUDYJgAACzvnptvVoYEL',
  'toolu_01A09q90qw90lq917835lq9',
  'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
  '0f8fad5b-d9cb-469f-a165-70867728950e',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'https://example.com/a/b?c=d',
  'Missing bearer authentication in header.',
  'test_of_some_function_with_a_very_long_name_in_python',
  's.abcdefghijklmnopqrstuvwx',
  'access-production-data-of-2026',
  'The password is checked by the pa-rser of the task-force.',
])('%s is no secret', (text) => {
  expect(redactSecretShapes(text)).toBe(text);
});

test('the search is linear in texts that nearly match', async () => {
  const starts = Object.values(keys).flatMap((examples) => examples.map((key) => key.slice(0, 14)));
  const pumps = [
    ...starts,
    ...starts.map((start) => start.slice(0, 4)),
    'eyJ-',
    'a-'.repeat(12),
    mixed(19),
    hex(32),
    '://a:',
  ];
  const leastOf = async (text: string) => {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3; round++) least = Math.min(least, await cpuMsOf(() => secretRanges(text)));
    return least;
  };
  for (const pump of pumps) {
    const [short, long] = [10_000, 160_000].map((length) => pump.repeat(length / pump.length));
    const ratio = (await leastOf(long ?? '')) / Math.max(await leastOf(short ?? ''), 1);
    // Linear is 16, quadratic 256.
    expect([pump, ratio < 90]).toEqual([pump, true]);
  }
});
