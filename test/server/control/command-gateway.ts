import { type ControlGateway, startControlGateway } from './control-gateway.ts';

export const baseUrl = 'https://api.example.com/v1';
/** The credential of the provider `main`. */
export const secret = 'sk-planted-4711';

/** With two providers, an alias and two groups. */
export function startCommandGateway(): Promise<ControlGateway> {
  return startControlGateway({
    config: {
      providers: [
        { id: 'main', baseUrl, credentials: [{ id: 'c1' }], models: ['gpt-x'] },
        { id: 'spare', baseUrl, models: ['gpt-x'] },
      ],
      aliases: [{ name: 'fast', targets: [{ provider: 'spare', model: 'gpt-x' }] }],
      groups: [{ id: 'default' }, { id: 'team', order: [{ provider: 'main', priority: 1 }] }],
    },
    secrets: { 'provider/main/c1': secret },
  });
}
