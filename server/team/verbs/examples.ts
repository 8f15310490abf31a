/** The examples in the help of the team's verbs. */
import type { Examples } from '../../cli/examples.ts';

export const examples: Examples = {
  login: ['sluice login https://gateway.example'],
  logout: ['sluice logout https://gateway.example'],
  join: ['sluice join https://gateway.example', 'sluice join https://gateway.example --group research --yes'],
  leave: ['sluice leave https://gateway.example'],
  'token create': ['sluice token create pipeline --scope read write --days 30 --gateway https://gateway.example'],
  'token list': ['sluice token list --gateway https://gateway.example'],
  'token revoke': ['sluice token revoke tok_0123456789abcdef --gateway https://gateway.example'],
  'people list': ['sluice people list', 'sluice people list --gateway https://gateway.example'],
  'people sign-out': ['sluice people sign-out mia@acme.example'],
  audit: ['sluice audit', 'sluice audit --person mia@acme.example --limit 20', 'sluice audit --json > audit.json'],
};
