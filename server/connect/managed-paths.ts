/** Where organisations put the settings that outrank those of a person, by the client's id. */
interface ManagedPath {
  /** A variable that names another place. */
  variable?: string;
  darwin?: string;
  win32?: string;
  linux: string;
}

const managedPaths: Record<string, ManagedPath> = {
  'claude-code': {
    darwin: '/Library/Application Support/ClaudeCode',
    win32: 'C:\\Program Files\\ClaudeCode',
    linux: '/etc/claude-code',
  },
  codex: { linux: '/etc/codex' },
  'gemini-cli': {
    variable: 'GEMINI_CLI_SYSTEM_SETTINGS_PATH',
    darwin: '/Library/Application Support/GeminiCli/settings.json',
    win32: 'C:\\ProgramData\\gemini-cli\\settings.json',
    linux: '/etc/gemini-cli/settings.json',
  },
  opencode: {
    darwin: '/Library/Application Support/opencode',
    win32: 'C:\\ProgramData\\opencode',
    linux: '/etc/opencode',
  },
  'qwen-code': {
    variable: 'QWEN_CODE_SYSTEM_SETTINGS_PATH',
    darwin: '/Library/Application Support/QwenCode/settings.json',
    win32: 'C:\\ProgramData\\qwen-code\\settings.json',
    linux: '/etc/qwen-code/settings.json',
  },
};

/** A folder, or a file for Gemini CLI and Qwen Code. Null for a client without them. */
export function managedPath(
  client: string,
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const places = managedPaths[client];
  if (!places) return null;
  const named = places.variable && env[places.variable];
  return named || ((platform === 'darwin' || platform === 'win32') && places[platform]) || places.linux;
}
