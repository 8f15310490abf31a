/** Realistic configuration files: with comments, in an unusual order, with settings of other tools. */
export const clientSettings: Record<string, string> = {
  '.codex/config.toml': `# Codex, the way I like it
approval_policy = "on-request"   # never on the server
model = "o3"

[projects."/home/me/work"]
trust_level = "trusted"

[model_providers.azure]
name = "Azure"
base_url = "https://example.openai.azure.com/openai"
env_key = "AZURE_KEY"
`,
  '.claude/settings.json': `{
\t"permissions": { "allow": ["Bash(npm test)"] },
\t"env": {
\t\t"BASH_DEFAULT_TIMEOUT_MS": "90000"
\t},
\t"model": "opus"
}
`,
  // Gemini CLI accepts comments but no trailing comma.
  '.gemini/settings.json': `{"ui": {"theme": "GitHub"} // dark
}
`,
  '.gemini/.env': `# for all projects
export GOOGLE_CLOUD_PROJECT="mine"
`,
  '.config/opencode/opencode.jsonc': `{
  // shared with the team
  "$schema": "https://opencode.ai/config.json",
  "provider": {
    "local": { "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "http://127.0.0.1:1234/v1" } },
  },
}
`,
  '.qwen/settings.json': `{
  "$version": 3,
  "modelProviders": {
    "openai": [
      { "id": "qwen3-max", "baseUrl": "https://dashscope.example/v1", "envKey": "DASHSCOPE_API_KEY" }
    ]
  }
}
`,
  '.continue/config.yaml': `name: My Assistant
version: 1.0.0
schema: v1

models:
- name: "Claude"   # for chat
  provider: anthropic
  model: claude-sonnet-4-5
  apiKey: 5up3r-53cr3t-0f-m1ne
  roles: [ chat,edit ]

context:
    - provider: code
`,
  '.config/zed/settings.json': `// Zed settings
{
  "vim_mode": true,
  "language_models": { "ollama": { "api_url": "http://localhost:11434" } },
}
`,
  '.config/Code/User/chatLanguageModels.json': `[
	// Made by VS Code
	{
		"name": "Local",
		"vendor": "ollama",
		"url": "http://localhost:11434"
	}
]
`,
  '.aider.conf.yml': `# Aider
dark-mode: true
model: sonnet   # usually
`,
  '.aider.model.settings.yml': `# Mine
- name: deepseek/deepseek-chat   # slow
  edit_format: diff
- name: aider/extra_params
  extra_params:
    extra_headers: { X-Team: writers }
    timeout: 30
`,
  // Shortened from the example that LibreChat ships.
  'LibreChat/librechat.yaml': `# Configuration version (required)
version: 1.3.0

cache: true

registration:
  socialLogins: ['github', 'google']

endpoints:
  custom:
    # Groq Example
    - name: 'groq'
      apiKey: '\${GROQ_API_KEY}'
      baseURL: 'https://api.groq.com/openai/v1/'
      models:
        default:
          - 'llama3-70b-8192'
        fetch: false
      titleConvo: true
# fileConfig:
#   serverFileSizeLimit: 100
`,
  'LibreChat/.env': `# Server
HOST=localhost
PORT=3080
`,
};
