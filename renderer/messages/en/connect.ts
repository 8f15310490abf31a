/** Which key a screen calls the gateway with. */
export const keyChooser = {
  key: 'Key',
  model: 'Model',
  none: 'No key that may be used',
  secret: 'Secret of the key',
  notKept: 'It was not kept and cannot be shown: paste it. It is forgotten when you leave this screen.',
  showEntered: 'Show what was entered',
};

export const connect = {
  lead: 'Choose a key and a model, then a client: its steps are filled in.',
  showSecret: 'Put the secret into the steps',
  hideSecret: 'Take the secret out',
  clients: 'Clients',
  kinds: { programs: 'Terminal and libraries', coding: 'Editors and agents', apps: 'Applications' },
  stepsOf: (client: string) => `Steps for ${client}`,
  snippetOf: (client: string) => `snippet for ${client}`,

  test: 'Test from here',
  testPassed: (models: number, count: string, duration: string) =>
    `Works: the key may use ${count} ${models === 1 ? 'model' : 'models'} (${duration}).`,
  testRefused: (status: number, message: string) => `Refused with ${status}: ${message}`,
  testUnreachable: 'The gateway did not answer.',

  arrived: (ago: string) => `A request of it arrived ${ago}.`,
  arrivedByKey: (ago: string, client: string | null) =>
    client === null ? `This key was used ${ago}.` : `This key was used ${ago}, by what calls itself “${client}”.`,
  arrivedAndRefused: (ago: string) => `A request of it arrived ${ago} and was refused.`,
  waiting: 'No request of it so far. It shows here as soon as one arrives.',
  waitingByKey: 'This key was not used so far. It shows here as soon as it is.',
  hasArrived: 'has sent a request',
  notTold: 'Its requests do not say who sends them, so what counts is the key.',

  steps: {
    runInTerminal: 'In a terminal:',
    install: 'Install:',
    write: 'In your program:',
    orEnvironment: 'Or in the environment that it starts in:',
    startInEnvironment: 'Start it with the key in its environment:',
    putInto: (file: string) => `Put into ${file}:`,
    mergeInto: (file: string) => `Add to ${file}:`,
    open: (place: string) => `Open ${place}`,
    runPalette: (command: string) => `Run “${command}” from the command palette.`,
    fillIn: 'Fill in:',
    addModel: 'Choose the model, or add it by its name:',
    anyOther: 'Any other client of the OpenAI API needs no more than this:',
    orLiteLlmProxy: 'Or in the config.yaml of the LiteLLM proxy:',
    codexResponses: 'Codex speaks the Responses API. For a provider that has only chat completions, Sluice translates.',
    claudePlainName:
      'With a Claude model, use its plain name: Claude Code drops the thinking of an answer whose model is not named as it asked.',
    qwenProxy: 'If HTTPS_PROXY is set, leave it out here: Qwen Code would ask that proxy for this machine too.',
    cursorReach:
      'Cursor sends requests from its own servers, and those do not reach an address of your machine. It works only with a base URL that is reachable from outside, such as a tunnel of yours; its address must then stand in the allowed hosts of Settings.',
    zedKey: 'Zed takes the key from its settings page of the provider, or from the environment:',
    contextGuess: 'The token limits are guesses: put in those of your model.',
    copilotVersion: 'Needs VS Code 1.122 or later, which has the provider “Custom Endpoint”.',
    jetbrainsOlder: 'Older versions have it in “Models & API keys”, under “Third-party AI providers”.',
    fromContainer:
      'Runs in a container? Then use host.docker.internal in place of 127.0.0.1 and add that name to the allowed hosts in Settings. On Linux the container needs the host’s network (--network=host).',
  },
};
