/** Recognises secrets by their form, in team presets and log lines. Recognises the headers that carry them by name. */

/**
 * The forms of keys, as data: of services whose keys have a form of their own. They were compared with all rules of gitleaks
 * (`config/gitleaks.toml` at commit 009e025ad4106ab333aa0b9dc4f2a884390d134c), and with the documentation of services of models.
 * Rules there that recognise a value by the name before it (`adafruit_key = …`) are left out: in a conversation they would take any
 * word for a key. Each pattern is one prefix and runs of characters, without anything to go back to, so that a search is
 * linear. `test/server/contract/secret-shape.test.ts` has an example of each.
 */
interface SecretRule {
  of: string;
  /** How it begins. */
  prefix: string;
  /** What comes after it; `wordy` if absent. */
  rest?: string;
  /** A letter before it does not rule it out. */
  isAnywhere?: true;
  /** How many characters at its beginning are no secret. */
  keeps?: number;
}

/** Names of models must stay readable (`xai-grok-4-fast-reasoning`), so one run of the key has no hyphen. */
const wordy = '(?=[A-Za-z0-9_-]{0,24}[A-Za-z0-9]{20})[A-Za-z0-9_-]+';
/** Base64 and its variants. */
const base64 = '[A-Za-z0-9+/=_-]';

/** A key of Sluice, whose beginning may be in base64, behind any number of other bytes. */
export const sluiceKey = '(?:sk-sluice-|c2stc2x1aWNlL|NrLXNsdWljZS|zay1zbHVpY2Ut)[A-Za-z0-9+/_-]{20,}';

export const secretRules: readonly SecretRule[] = [
  // Models.
  { of: 'Sluice', prefix: sluiceKey, rest: '', isAnywhere: true },
  { of: 'OpenAI, Anthropic, OpenRouter, DeepSeek and Stripe', prefix: 'sk[-_]', rest: '[A-Za-z0-9_-]{16,}' },
  { of: 'Groq', prefix: 'gsk_' },
  { of: 'Hugging Face', prefix: 'hf_' },
  { of: 'Hugging Face, for organisations', prefix: 'api_org_' },
  { of: 'Replicate', prefix: 'r8_' },
  { of: 'NVIDIA', prefix: 'nvapi-' },
  { of: 'xAI', prefix: 'xai-' },
  { of: 'Perplexity', prefix: 'pplx-' },
  { of: 'Cerebras', prefix: 'csk-' },
  { of: 'Tavily', prefix: 'tvly-' },
  { of: 'Fireworks', prefix: 'fw_' },
  { of: 'Together', prefix: 'tgp_v1_' },
  { of: 'Jina', prefix: 'jina_' },
  { of: 'Voyage', prefix: 'pa-' },
  { of: 'Pinecone', prefix: 'pcsk_' },
  { of: 'Firecrawl', prefix: 'fc-' },
  { of: 'LangSmith', prefix: 'lsv2_(?:pt|sk)_' },
  { of: 'Zhipu', prefix: '(?<=\\b[0-9a-f]{32})\\.', rest: '[A-Za-z0-9]{16}', isAnywhere: true },
  // Clouds.
  { of: 'AWS', prefix: '(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)', rest: '[A-Z0-9]{16}' },
  { of: 'Bedrock', prefix: 'ABSK', rest: '[A-Za-z0-9+/]{60,}={0,2}' },
  { of: 'Bedrock, for a short time', prefix: 'bedrock-api-key-', rest: `${base64}{40,}` },
  { of: 'Google', prefix: 'AIza', rest: '[A-Za-z0-9_-]{30,}' },
  { of: 'Google Vertex AI', prefix: 'AQ\\.Ab', rest: '[A-Za-z0-9_-]{20,}' },
  { of: 'Google OAuth', prefix: 'ya29\\.', rest: '[A-Za-z0-9_.-]{20,}' },
  { of: 'Google OAuth, for clients', prefix: 'GOCSPX-', rest: '[A-Za-z0-9_-]{20,}' },
  { of: 'Google OAuth, for renewal', prefix: '1//0', rest: '[A-Za-z0-9_-]{30,}' },
  { of: 'Azure Storage', prefix: 'AccountKey=', rest: '[A-Za-z0-9+/]{60,}={0,2}', isAnywhere: true },
  { of: 'Entra ID', prefix: '[A-Za-z0-9_~.-]{3}[0-9]Q~', rest: '[A-Za-z0-9_~.-]{31,}', isAnywhere: true },
  { of: 'Alibaba Cloud', prefix: 'LTAI', rest: '[A-Za-z0-9]{16,}' },
  { of: 'Tencent Cloud', prefix: 'AKID', rest: '[A-Za-z0-9]{28,}' },
  { of: 'DigitalOcean', prefix: 'do[opr]_v1_', rest: '[0-9a-f]{64}' },
  { of: 'Fly.io', prefix: '(?:fm[12][ar]?|fo1)_', rest: `${base64}{40,}` },
  { of: 'Databricks', prefix: 'dapi', rest: '[0-9a-f]{32}(?:-[0-9])?' },
  { of: 'Supabase', prefix: 'sb(?:p|_secret)_' },
  { of: 'Netlify', prefix: 'nfp_' },
  { of: 'PlanetScale', prefix: 'pscale_(?:tkn|pw|oauth)_', rest: '[A-Za-z0-9_.=-]{30,}' },
  { of: 'Cloudflare, for origins', prefix: 'v1\\.0-', rest: '[0-9a-f]{24}-[0-9a-f]{146}' },
  { of: 'ClickHouse Cloud', prefix: '4b1d', rest: '[A-Za-z0-9]{38}(?![A-Za-z0-9])' },
  { of: 'Defined Networking', prefix: 'dnkey-', rest: '[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}' },
  { of: 'MaxMind', prefix: '[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk', rest: '(?![A-Za-z0-9])' },
  { of: 'Mapbox', prefix: '[ps]k\\.', rest: '[A-Za-z0-9]{60}\\.[A-Za-z0-9]{22}' },
  { of: 'OpenShift', prefix: 'sha256~', rest: '[A-Za-z0-9_-]{43}' },
  { of: 'Scalingo', prefix: 'tk-us-', rest: '[A-Za-z0-9_-]{48}' },
  { of: 'Yandex Cloud', prefix: 'AQVN', rest: '[A-Za-z0-9_-]{35}' },
  { of: 'Yandex Cloud, for a time', prefix: 't1\\.', rest: '[A-Za-z0-9_-]{1,200}={0,2}\\.[A-Za-z0-9_-]{86}={0,2}' },
  { of: 'Yandex Cloud, for storage', prefix: 'YC', rest: '[A-Za-z0-9_-]{38}(?![A-Za-z0-9_-])' },
  { of: 'Heroku', prefix: 'HRKU-', rest: '[A-Za-z0-9_-]{30,}' },
  // Code and packages.
  { of: 'GitHub', prefix: 'gh[oprsu]_' },
  { of: 'GitHub, fine-grained', prefix: 'github_pat_' },
  {
    of: 'GitLab',
    prefix: 'gl(?:pat|dt|rt|cbt|ptt|ft|ffct|imt|agent|soat|oas)-',
    rest: '[A-Za-z0-9_-]{20,}(?:\\.[0-9a-z]{9})?',
  },
  { of: 'GitLab, for runners', prefix: 'GR1348941', rest: '[A-Za-z0-9_-]{20,}' },
  {
    of: 'GitLab, sessions',
    prefix: '_gitlab_session=',
    rest: '[0-9a-z]{32}',
    keeps: '_gitlab_session='.length,
    isAnywhere: true,
  },
  { of: 'Atlassian', prefix: 'AT(?:ATT3|CTT3|BB)', rest: '[A-Za-z0-9_=-]{20,}' },
  { of: 'npm', prefix: 'npm_' },
  { of: 'PyPI', prefix: 'pypi-AgE', rest: '[A-Za-z0-9_-]{40,}' },
  { of: 'RubyGems', prefix: 'rubygems_', rest: '[0-9a-f]{48}' },
  { of: 'Docker', prefix: 'dckr_(?:pat|oat)_', rest: '[A-Za-z0-9_-]{20,}' },
  { of: 'HashiCorp Vault, earlier', prefix: 's\\.', rest: '(?=[A-Za-z]{0,23}[0-9])[A-Za-z0-9]{24}(?![A-Za-z0-9])' },
  { of: 'HashiCorp Vault', prefix: 'hv[brs]\\.', rest: '[A-Za-z0-9_-]{20,}' },
  { of: 'Terraform', prefix: '(?<=\\b[A-Za-z0-9]{14}\\.)atlasv1\\.', rest: '[A-Za-z0-9_=-]{40,}' },
  { of: 'Artifactory', prefix: 'AKCp', rest: '[A-Za-z0-9]{60,}' },
  { of: 'Artifactory, references', prefix: 'cmVmd', rest: '[A-Za-z0-9]{59}' },
  { of: 'Clojars', prefix: 'CLOJARS_', rest: '[A-Za-z0-9]{60}' },
  { of: 'Harness', prefix: '[ps]at\\.', rest: '[A-Za-z0-9_-]{22}\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{20}' },
  { of: 'Octopus Deploy', prefix: 'API-', rest: '[A-Z0-9]{26}' },
  { of: 'Sourcegraph', prefix: 'sgp_', rest: '(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}' },
  { of: 'Prefect', prefix: 'pnu_', rest: '[A-Za-z0-9]{36}' },
  { of: 'Infracost', prefix: 'ico-', rest: '[A-Za-z0-9]{32}' },
  { of: 'ReadMe', prefix: 'rdme_', rest: '[A-Za-z0-9]{60,}' },
  { of: 'Settlemint', prefix: 'sm_[aps]at_', rest: '[A-Za-z0-9]{16}' },
  { of: '1Password', prefix: 'A3-', rest: '[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}' },
  { of: '1Password, for services', prefix: 'ops_eyJ', rest: '[A-Za-z0-9+/]{40,}={0,3}' },
  { of: 'Pulumi', prefix: 'pul-', rest: '[0-9a-f]{40}' },
  { of: 'Doppler', prefix: 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.', rest: '[A-Za-z0-9_.-]{20,}' },
  { of: 'age', prefix: 'AGE-SECRET-KEY-1', rest: '[A-Z0-9]{50,}' },
  // Talk and work.
  { of: 'Slack', prefix: 'xox[abceoprs]-', rest: '[A-Za-z0-9-]{10,}' },
  { of: 'Slack, of apps', prefix: 'xapp-', rest: '[A-Za-z0-9-]{20,}' },
  {
    of: 'Slack, webhooks',
    prefix: 'hooks\\.slack\\.com/(?:services|workflows|triggers)/',
    rest: '[A-Za-z0-9/_-]{20,}',
  },
  {
    of: 'Microsoft Teams, webhooks',
    prefix: 'webhook\\.office\\.com/webhookb2/',
    rest: '[0-9a-zA-Z@-]{20,100}/IncomingWebhook/[0-9a-zA-Z/-]{20,100}',
  },
  { of: 'Typeform', prefix: 'tfp_', rest: '[A-Za-z0-9_.=-]{40,}' },
  { of: 'Frame.io', prefix: 'fio-u-', rest: '[A-Za-z0-9_=-]{60,}' },
  { of: 'Adobe', prefix: 'p8e-', rest: '[A-Za-z0-9]{32}' },
  { of: '42', prefix: 's-s4t2(?:ud|af)-', rest: '[0-9a-fA-F]{64}' },
  { of: 'Discord', prefix: '[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.', rest: '[A-Za-z0-9_-]{27,}' },
  { of: 'Telegram', prefix: '[0-9]{8,10}:AA', rest: '[A-Za-z0-9_-]{33}' },
  { of: 'Notion', prefix: 'ntn_' },
  { of: 'Linear', prefix: 'lin_(?:api|oauth)_' },
  { of: 'Figma', prefix: 'fig[doru]{1,2}_', rest: '[A-Za-z0-9_-]{30,}' },
  { of: 'Airtable', prefix: 'pat[A-Za-z0-9]{14}\\.', rest: '[0-9a-f]{64}' },
  { of: 'Postman', prefix: 'PMAK-', rest: '[0-9a-f]{24}-[0-9a-f]{34}' },
  { of: 'HubSpot', prefix: 'pat-(?:na|eu)[0-9]-', rest: '[0-9a-f-]{36}' },
  { of: 'Facebook, for applications', prefix: '[0-9]{15,16}\\|', rest: '[A-Za-z0-9_-]{27,40}' },
  { of: 'Dropbox', prefix: 'sl\\.', rest: '[A-Za-z0-9=_-]{130,}' },
  {
    of: 'Authress',
    prefix: '(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\\.[A-Za-z0-9]{4,6}\\.acc[_-]',
    rest: '[A-Za-z0-9-]{10,32}\\.[A-Za-z0-9+/_=-]{30,120}',
  },
  { of: 'Facebook', prefix: 'EAA[A-Z]', rest: '[A-Za-z0-9]{40,}' },
  // Money and mail.
  { of: 'Stripe', prefix: '[pr]k_(?:live|test|prod)_', rest: '[A-Za-z0-9]{10,}' },
  { of: 'Stripe and others, published', prefix: '[pr]k[-_]' },
  { of: 'Stripe, webhooks', prefix: 'whsec_', rest: `${base64}{20,}` },
  { of: 'Square', prefix: '(?:sq0(?:atp|csp|idp)-|EAAA)', rest: '[A-Za-z0-9_-]{22,}' },
  { of: 'EasyPost', prefix: 'EZ[AT]K', rest: '[A-Za-z0-9]{54}' },
  { of: 'Flutterwave', prefix: 'FLW(?:SEC|PUB)K(?:_TEST)?-', rest: '[0-9a-zA-Z]{12,32}(?:-X)?' },
  { of: 'Duffel', prefix: 'duffel_(?:live|test)_', rest: '[A-Za-z0-9_=-]{40,}' },
  { of: 'Shippo', prefix: 'shippo_(?:live|test)_', rest: '[0-9a-fA-F]{40}' },
  { of: 'Shopify', prefix: 'shp(?:at|ca|pa|ss|ua|tka)_', rest: '[0-9a-fA-F]{32}' },
  { of: 'Twilio', prefix: 'SK', rest: '[0-9a-f]{32}' },
  { of: 'SendGrid', prefix: 'SG\\.', rest: '[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}' },
  { of: 'Mailgun', prefix: '(?:pub)?key-', rest: '[0-9a-f]{32}' },
  { of: 'Mailgun, for webhooks', prefix: '[a-h0-9]{32}-[a-h0-9]{8}-', rest: '[a-h0-9]{8}(?![A-Za-z0-9-])' },
  { of: 'Mailchimp', prefix: '[0-9a-f]{32}-us', rest: '[0-9]{1,2}(?![A-Za-z0-9-])' },
  { of: 'Plaid', prefix: 'access-(?:sandbox|development|production)-', rest: '[0-9a-f-]{36}' },
  { of: 'Lob', prefix: '(?:live|test)_(?:pub_)?', rest: '[0-9a-f]{31,35}(?![A-Za-z0-9_])' },
  { of: 'GoCardless', prefix: 'live_' },
  { of: 'Brevo', prefix: 'xkeysib-', rest: '[0-9a-f]{40,}(?:-[A-Za-z0-9]{16})?' },
  // Watching.
  { of: 'New Relic', prefix: 'NR(?:AK|JS|II|RA)-', rest: '[A-Za-z0-9_-]{19,}' },
  { of: 'Sentry', prefix: 'sntry[su]_', rest: `${base64}{40,}` },
  { of: 'Grafana, earlier', prefix: 'eyJrIjoi', rest: '[A-Za-z0-9]{70,400}={0,3}' },
  { of: 'Grafana', prefix: 'gl(?:c|sa)_', rest: `${base64}{30,}` },
  { of: 'Dynatrace', prefix: 'dt0[a-z][0-9]{2}\\.', rest: '[A-Z0-9]{24}\\.[A-Z0-9]{64}' },
  // Forms that many have.
  {
    of: 'signed tokens (JWT)',
    prefix: '(?<![A-Za-z0-9_-])eyJ',
    rest: '[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_.-]{10,}',
    isAnywhere: true,
  },
  { of: 'signed tokens (JWT), in base64', prefix: 'ZXlK', rest: '[A-Za-z0-9+/_-]{60,}={0,2}' },
  {
    of: 'headers',
    prefix: '[Bb]earer (?!auth(?:entication|orization)\\b)',
    rest: '[^\\s"\'\\\\,;<>{}]{8,}',
    keeps: 'bearer '.length,
    isAnywhere: true,
  },
  {
    of: 'addresses with a password',
    prefix: '://[^\\s"\'\\\\/:@?#]{1,64}:',
    rest: '[^\\s"\'\\\\/@]{3,128}(?=@)',
    keeps: '://'.length,
    isAnywhere: true,
  },
  {
    of: 'private keys (PEM)',
    prefix: '-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----',
    rest: '(?:[A-Za-z0-9+/=\\s]|\\\\[nr]){0,8192}(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?',
    isAnywhere: true,
  },
];

const sourceOf = ({ prefix, rest = wordy }: SecretRule) => prefix + rest;

interface SecretPattern {
  source: string;
  keeps: number;
}

/** Those that begin a word are one pattern. The others begin with their own text, which an engine finds faster than any choice. */
const secretPatterns: readonly SecretPattern[] = [
  {
    source: `\\b(?:${secretRules
      .filter(({ isAnywhere }) => !isAnywhere)
      .map(sourceOf)
      .join('|')})`,
    keeps: 0,
  },
  ...secretRules
    .filter(({ isAnywhere }) => isAnywhere)
    .map((rule) => ({ source: sourceOf(rule), keeps: rule.keeps ?? 0 })),
];

const secretShapes: readonly RegExp[] = [
  // Key prefixes of known services.
  /\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/,
  /\b(gsk|hf|r8|ghp|gho|github_pat|glpat|nvapi|xai|pplx|csk|tvly)[-_][A-Za-z0-9_-]{16,}/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/,
  /(?<![\w-])(?=[\w-]*eyJ[\w-]{10})[\w-]+\.[\w-]{10,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
/** For header values only: in a URL such a sequence may be an account name, and "basic" is a common word. */
const secretHeaderValue = /[A-Fa-f0-9]{32,}|[A-Za-z0-9+/_-]{40,}|^(bearer|basic)\s/i;

/** A broad guess: false positives are acceptable, because a preset's author can reword the text. */
export function looksLikeSecret(text: string): boolean {
  return secretShapes.some((shape) => shape.test(text)) || secretRanges(text).length > 0;
}

const searched = secretPatterns.map(({ source, keeps }) => ({ regexp: new RegExp(source, 'g'), keeps }));
/** The longest text without anything that a pattern could find. */
const shortestShape = 15;

interface TextRange {
  start: number;
  end: number;
}

/** What has the form of a key, in no order. Narrower than `secretShapes`, because names of models must stay readable. */
export function secretRanges(text: string): TextRange[] {
  if (text.length < shortestShape) return [];
  return searched.flatMap(({ regexp, keeps }) =>
    [...text.matchAll(regexp)].map(({ index, 0: match }) => ({ start: index + keeps, end: index + match.length })),
  );
}

/** How much of a long text is searched in one step, and how much of what follows is seen with it. */
const stepLength = 64 * 1024;
const longestShape = 16 * 1024;

/** The same in steps, for long texts. Of what is longer than `longestShape` only the beginning need be found. */
export function* secretRangeSteps(text: string): Generator<void, TextRange[], undefined> {
  if (text.length <= stepLength) return secretRanges(text);
  const ranges: TextRange[] = [];
  for (const { regexp, keeps } of searched) {
    let at = 0;
    for (let end = stepLength; end - stepLength < text.length; end += stepLength) {
      at = Math.max(at, end - stepLength);
      at = findInStep(text, { at, end }, regexp, (index, matchEnd) =>
        ranges.push({ start: index + keeps, end: matchEnd }),
      );
      yield;
    }
  }
  return ranges;
}

/** Finds what begins between `at` and `end`. Returns the end of the last match. */
function findInStep(
  text: string,
  { at, end }: { at: number; end: number },
  regexp: RegExp,
  found: (index: number, end: number) => void,
): number {
  const seen = text.slice(0, end + longestShape);
  let next = at;
  regexp.lastIndex = next;
  for (let match = regexp.exec(seen); match && match.index < end; match = regexp.exec(seen)) {
    if (regexp.lastIndex === seen.length && seen.length < text.length) {
      regexp.lastIndex = match.index;
      regexp.exec(text);
    }
    next = regexp.lastIndex;
    found(match.index, next);
  }
  return next;
}

/** Replaces secrets in a short text. */
export function redactSecretShapes(text: string): string {
  if (text.length < shortestShape) return text;
  return searched.reduce(
    (redacted, { regexp, keeps }) => redacted.replace(regexp, (match) => `${match.slice(0, keeps)}[redacted]`),
    text,
  );
}

export function looksLikeSecretInHeader(value: string): boolean {
  return looksLikeSecret(value) || secretHeaderValue.test(value);
}

/** Whether a URL contains a user name or a password. */
export function hasUserInfo(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.username !== '' || url.password !== '');
}

const secretName =
  /^(?:proxy-)?authorization$|^x-auth|cookie|(?:^|[-_])(?:api|access|auth|subscription)?[-_]?key$|apikey$|token$|secret|password|credential|signature/i;
const openKeys = new Set(['idempotency-key']);

/** Whether a header with this name usually carries a secret. */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name) && !openKeys.has(name.toLowerCase());
}
