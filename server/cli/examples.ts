/** Examples for the help of each command, by its path. */
import type { Command } from 'commander';

/** By the path of the command. */
export type Examples = Readonly<Record<string, readonly string[]>>;

export const examples: Examples = {
  serve: [
    'sluice serve',
    'sluice serve --detach',
    'sluice serve --config gateway.json --port 0 --json',
    'sluice serve --store postgres://sluice:env:DATABASE_PASSWORD@db.internal/sluice --host 0.0.0.0',
    'sluice serve --cassette cassettes --cassette-mode replay',
    'sluice serve --host 0.0.0.0 --public-url https://gateway.example --trusted-proxy 10.0.0.0/8',
  ],
  stop: ['sluice stop'],
  status: ['sluice status', 'sluice status --json'],
  run: [
    'sluice run -- claude',
    'sluice run --model groq/openai/gpt-oss-120b -- codex',
    'sluice run --group writing -- python summarize.py',
  ],
  record: [
    'sluice record --cassette cassettes -- npm test',
    'sluice record --cassette cassettes --new-only -- npm test',
  ],
  'cassette export': ['sluice cassette export cassettes exchanges.har'],
  'cassette status': ['sluice cassette status'],
  'cassette rewind': ['sluice cassette rewind', 'sluice cassette rewind --cassette cassettes'],
  replay: [
    'sluice replay --cassette cassettes -- npm test',
    'sluice replay --cassette cassettes --pace recorded -- python chat.py',
  ],
  env: [
    'eval "$(sluice env)"                       # sh, bash, zsh',
    'sluice env --shell fish | source',
    'sluice env --shell powershell | Out-String | Invoke-Expression',
  ],
  'service install': ['sluice service install', 'sluice service install --config ~/gateway.json'],
  'service uninstall': ['sluice service uninstall'],
  'service status': ['sluice service status'],
  migrate: ['sluice migrate --from sqlite --to postgres://sluice:env:DATABASE_PASSWORD@db.internal/sluice'],
  'key create': [
    'sluice key create --name "my editor" --group writing --expires 90d',
    "sluice key create --models 'demo-*' --limit requests=60,usd=5/day",
    'eval "$(sluice key create --export)"',
  ],
  'key list': ['sluice key list', 'sluice key list --json'],
  'key show': ['sluice key show my-editor'],
  'key put': ['sluice key put my-editor --expires never', "sluice key put my-editor --models 'gpt-*'"],
  'key move': ['sluice key move my-editor writing'],
  'key enable': ['sluice key enable my-editor'],
  'key disable': ['sluice key disable my-editor'],
  'key limit': ['sluice key limit my-editor requests=60 concurrent=4 usd=5/day', 'sluice key limit my-editor none'],
  'key revoke': ['sluice key revoke my-editor', 'sluice key revoke my-editor --yes'],
  'key rotate': ['sluice key rotate my-editor', 'sluice key rotate my-editor --grace 24h'],
  'key reveal': ['sluice key reveal my-editor'],
  'provider add': [
    'sluice provider add openai',
    'sluice provider add anthropic --credential-env ANTHROPIC_API_KEY',
    'sluice provider add ollama',
    'sluice provider add --url https://llm.example.com/v1 --id example --credential-file ./example.key',
  ],
  'provider put': ['sluice provider put example --models discover', 'sluice provider put example --context 128000'],
  'provider credential': ['sluice provider credential openai', 'sluice provider credential openai second'],
  'provider list': ['sluice provider list'],
  'provider presets': ['sluice provider presets'],
  'provider models': ['sluice provider models openai'],
  'provider test': ['sluice provider test openai'],
  'provider enable': ['sluice provider enable openai'],
  'provider disable': ['sluice provider disable openai'],
  'provider reset': ['sluice provider reset openai', 'sluice provider reset openai second'],
  'provider remove': ['sluice provider remove openai'],
  'group list': ['sluice group list'],
  'group show': ['sluice group show writing'],
  'group put': [
    "sluice group put writing --models 'gpt-*' --deny 'gpt-5-pro*' --limit usd=50/month",
    'sluice group put default --policy strategy=lowest-latency,retries=1,timeouts.firstByteMs=30000',
    'sluice group put default --order openai=0 --order groq=1',
    'sluice group put tests --cache ttl=1d,coalesce',
    'sluice group put tests --cassette cassettes --cassette-mode replay',
  ],
  'group remove': ['sluice group remove writing'],
  'alias list': ['sluice alias list'],
  'alias put': [
    'sluice alias put fast --target groq/openai/gpt-oss-120b --target openai/gpt-5-mini,priority=1',
    'sluice alias put mixed --target openai/gpt-5-mini,weight=3 --target groq/openai/gpt-oss-120b,weight=1',
  ],
  'alias remove': ['sluice alias remove fast'],
  'model list': ['sluice model list', 'sluice model list --key my-editor'],
  'route explain': ['sluice route explain --model fast', 'sluice route explain --key my-editor --model gpt-5'],
  log: [
    'sluice log --follow --errors',
    'sluice log --key my-editor --since 2h',
    'sluice log --export csv --since 30d > requests.csv',
  ],
  'log show': ['sluice log show req_0123456789abcdef0123456789abcdef'],
  sessions: ['sluice sessions', 'sluice sessions --key my-editor --since 2h', 'sluice sessions --stopped --json'],
  'session show': ['sluice session show ses_0123456789abcdef'],
  'session export': ['sluice session export ses_0123456789abcdef > session.jsonl'],
  'session stop': ['sluice session stop ses_0123456789abcdef'],
  'session resume': ['sluice session resume ses_0123456789abcdef'],
  'capture on': ['sluice capture on --requests 1', 'sluice capture on --for 10m', 'sluice capture on --key my-editor'],
  'capture off': ['sluice capture off --key my-editor'],
  'cache stats': ['sluice cache stats'],
  'cache clear': ['sluice cache clear', 'sluice cache clear --group writing'],
  'faults list': ['sluice faults list'],
  'faults show': ['sluice faults show rough'],
  'faults start': [
    'sluice faults start --key my-editor --profile flaky-streams --for 30m',
    'sluice faults start --group default --fault "rate-limit;retry-after=2;every=3"',
  ],
  'faults stop': ['sluice faults stop', 'sluice faults stop --key my-editor'],
  'faults run': [
    'sluice faults run --profile rough -- npm test',
    'sluice faults run --fault "cut;after=5;nth=2" --seed 7 -- python agent.py',
    'sluice faults run --profile rough --cassette cassettes -- npm test',
  ],
  compare: [
    'sluice compare req_0123456789abcdef0123456789abcdef --at openai/gpt-5-mini --at groq/openai/gpt-oss-120b --times 5',
  ],
  'faults judge': [
    'sluice faults judge -- node ask.js',
    'sluice faults judge --only "rate limit" --show -- node ask.js',
    'sluice faults judge --timeout 120 --json -- python agent.py',
  ],
  usage: ['sluice usage --by model --since 30d', 'sluice usage --limits'],
  'settings get': ['sluice settings get', 'sluice settings get admission.running'],
  'settings set': [
    'sluice settings set ledger.retentionDays 30',
    `sluice settings set allowedOrigins '["https://app.example"]'`,
    `sluice settings set prices '{ "my-model": { "input": 1.5, "output": 6 } }'`,
  ],
  'demo on': ['sluice demo on'],
  'demo off': ['sluice demo off'],
  'demo auto': ['sluice demo auto'],
  export: [
    'sluice export backup.json',
    'sluice export team.json --preset --name "Acme engineering" --organisation Acme',
  ],
  import: ['sluice import backup.json --dry-run', 'sluice import backup.json'],
  'preset show': ['sluice preset show team.json'],
  'preset apply': ['sluice preset apply team.json', 'sluice preset apply team.json --yes'],
  'preset link': ['sluice preset link team.json'],
  'preset leave': ['sluice preset leave'],
  apply: ['sluice apply -f team.json --dry-run', 'sluice apply -f team.json --yes --gateway https://gateway.example'],
  connect: [
    'sluice connect',
    'sluice connect codex',
    'sluice connect claude-code --write',
    'sluice connect codex --undo',
  ],
  window: ['sluice window', 'sluice window --open'],
  doctor: ['sluice doctor'],
  completion: [
    'source <(sluice completion bash)           # in ~/.bashrc',
    'source <(sluice completion zsh)            # in ~/.zshrc, after compinit',
    'sluice completion fish > ~/.config/fish/completions/sluice.fish',
    'sluice completion powershell | Out-String | Invoke-Expression   # in $PROFILE',
  ],
};

/** Adds them to the help of the commands below `program`. */
export function addExamples(program: Command, byPath: Examples): void {
  for (const { path, command } of commandsBelow(program)) {
    const lines = byPath[path];
    if (lines) command.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n'));
  }
}

/** All commands with their paths, such as `key create`. */
export function commandsBelow(program: Command, parents: readonly string[] = []): { path: string; command: Command }[] {
  return program.commands.flatMap((command) => {
    const path = [...parents, command.name()];
    return [{ path: path.join(' '), command }, ...commandsBelow(command, path)];
  });
}
