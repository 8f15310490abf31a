import type * as english from '../en/connect.ts';

export const keyChooser: typeof english.keyChooser = {
  key: '密钥',
  model: '模型',
  none: '没有可用的密钥',
  secret: '密钥内容',
  notKept: '此密钥未保存，无法显示，请粘贴。离开此页面后即会清除。',
  showEntered: '显示已输入的内容',
};

export const connect: typeof english.connect = {
  lead: '选择密钥、模型和客户端，步骤会自动填好。',
  showSecret: '在代码片段中显示密钥',
  hideSecret: '隐藏密钥',
  clients: '客户端',
  kinds: { programs: '终端与库', coding: '编辑器与智能体', apps: '应用' },
  stepsOf: (client) => `${client} 的步骤`,
  snippetOf: (client) => `${client} 的代码片段`,

  keyIsCopied: (placeholder) => `复制时会用你的密钥替换 ${placeholder}。`,
  keyIsYours: (placeholder) => `请用你的密钥替换 ${placeholder}。`,

  test: '发送测试请求',
  testPassed: (model, duration) => `可用：${model} 在 ${duration}内响应。`,
  testRefused: (model, status, message) => `${model} 失败（${status}）：${message}`,
  testUnreachable: '网关没有响应。',

  applyTitle: '自动设置',
  applyLead: (files) => `Sluice 可以为你写入 ${files}。写入之前会先显示更改。`,
  applied: (model, ago) => `${ago}已设置为 ${model}。`,
  appliedWithOldKey: (client) => `${client} 使用的仍是已失效的旧密钥，它的请求会被拒绝。`,
  giveKey: (key) => `换用密钥“${key}”…`,
  settingOfEnvironment: (setting) => `环境变量 ${setting}`,
  settingIn: (setting, place) => `${place} 中的 ${setting}`,
  appliedInVain: (model, preferred) =>
    `已为 ${model} 写入，但没有生效：客户端优先采用${preferred}。请移除，或请其管理员移除。`,
  overruled: (preferred) => `客户端会优先采用${preferred}，因此此更改会将其移除。`,
  stronger: (preferred) => `客户端暂时不会使用 Sluice：它优先采用${preferred}，此更改不会改动它。`,
  reviewChange: '查看更改…',
  undo: '撤销…',
  apply: '应用',
  undoNow: '撤销',
  applyDialog: (client) => `${client} 的更改`,
  undoDialog: (client) => `撤销 ${client} 的更改`,
  actions: { create: '新文件', change: '有更改', remove: '将删除', none: '无更改' },
  filesGone: '文件已不存在，无需撤销。',
  keyInEnvironment: '启动时在环境变量中带上密钥：',
  keyFromVariable: (variable) => `密钥不会写入文件，而是从 ${variable} 读取。`,
  keyInFile: '密钥会写入文件，此后只有你能读取该文件。',
  keyInOwnFile: (path) => `客户端从 ${path} 读取密钥，只有你能读取该文件。撤销此更改或吊销密钥时，该文件会一并删除。`,
  openTerminal: '打开带有此密钥的终端',
  openTerminalHint: '在该终端中启动的程序会使用 Sluice 和此密钥。密钥只存在于终端的环境变量中。',
  terminalCommand: '或打开环境变量中已有密钥的终端：',
  backup: 'Sluice 会保留备份，之后可以撤销，且不会丢失你的其他更改。',
  testFollows: (model) => `之后会向 ${model} 发送一个简短的测试请求。`,

  arrived: (ago) => `${ago}收到了它的请求。`,
  arrivedByKey: (ago, client) => `${ago}“${client}”使用了此密钥。`,
  arrivedAndRefused: (ago) => `${ago}收到了它的请求，但已拒绝。`,
  waiting: '正在等待它的首个请求，到达后会在此显示。',
  waitingByKey: '正在等待使用此密钥的首个请求，到达后会在此显示。',
  hasArrived: '已发来请求',
  notTold: '它的请求不说明来自哪个程序，因此使用此密钥的任何请求都算。',

  steps: {
    'run-in-terminal': () => '在终端中运行：',
    'any-in-terminal': () => '从环境变量读取服务商的程序可凭这些变量找到 Sluice，无论使用三种 API 中的哪一种：',
    install: () => '安装：',
    'write-program': () => '在你的程序中：',
    'or-environment': () => '或者设置这些环境变量：',
    'start-in-environment': () => '启动时在环境变量中带上密钥：',
    'put-into': ({ file }) => `写入 ${file}：`,
    'add-to': ({ file }) => `添加到 ${file}：`,
    open: ({ place }) => `打开 ${place}。`,
    'run-from-palette': ({ command }) => `在命令面板中运行“${command}”。`,
    'fill-in': () => '填写：',
    'add-model': () => '选择模型，或按名称添加：',
    'any-other': () => '其他任何 OpenAI API 客户端只需要这些：',
    'or-litellm-proxy': () => '如果使用 LiteLLM 代理，则写入它的 config.yaml：',
    'uses-chat': ({ endpoint }) => `它调用 ${endpoint}，所有服务商都支持（直接支持或经过转换）。`,
    'uses-other': ({ endpoint }) => `它调用 ${endpoint}。如果服务商只有 Chat Completions，Sluice 会进行转换。`,
    'uses-both': ({ endpoint, other }) =>
      `它调用 ${endpoint}，某些模型则调用 ${other}。如果服务商只有 Chat Completions，Sluice 会进行转换。`,
    'claude-plain-name': () =>
      '使用 Claude 模型时请填写其原名：如果回答中的模型名与请求的不同，Claude Code 会丢弃其思考内容。',
    'qwen-proxy': () => '如果设置了 HTTPS_PROXY，请为 Qwen Code 取消：否则它访问本机时也会经过该代理。',
    'cursor-reach': () =>
      'Cursor 从它自己的服务器发送请求，无法到达你机器上的地址。你需要一个能从外部访问的 Base URL（例如隧道），并把它的主机名加入“设置”中允许的主机名。',
    'cursor-override': () => '该设置同时作用于所有 OpenAI 模型。',
    'zed-key': () => 'Zed 从该服务商的设置页或环境变量读取密钥：',
    'context-guess': () => 'token 上限只是估计值，请改为你所用模型的数值。',
    'copilot-version': () => '需要 VS Code 1.122 或更高版本，其中包含“Custom Endpoint”。',
    'copilot-hidden': () =>
      '如果模型没有出现（VS Code 1.132 及更高版本），请在 settings.json 中把 "chat.agentHost.byokModels.enabled" 设为 true。',
    'copilot-key': () => '如果改为在“Chat: Manage Language Models”中输入密钥，VS Code 会把它存入自己的机密存储。',
    'jetbrains-older': () => '较旧的版本位于“Models & API keys”的“Third-party AI providers”下。',
    'from-container': () =>
      '如果它在容器中运行，请用 host.docker.internal 代替 127.0.0.1，并把该名称加入“设置”中允许的主机名。在 Linux 上，容器需要使用宿主机网络（--network=host）。',
    'litellm-master-key': () => '该代理没有自己的主密钥就无法启动，它的客户端使用这个主密钥：',
    'aider-weak-model': () =>
      '如果不加 --weak-model，Aider 会自行选择较便宜的模型来写提交信息，而你的密钥可能无权使用该模型。',
    'aider-title': ({ file }) =>
      `可选：Aider 自称 openai-python。在 ${file} 中加入以下内容，它的请求就会显示为 Aider：`,
    'llama-index-class': () => 'LlamaIndex 的 OpenAI 类会拒绝它不认识的模型名，OpenAILike 则接受任何名称。',
    'raycast-plan': () => '在 Raycast 的 Settings → AI 中开启自定义服务商。',
    'goose-host': () => '主机地址不带 /v1：Goose 会自己添加路径。',
    'embeddings-offline': () => 'OpenAIEmbeddings 会先下载分词器。设置 check_embedding_ctx_length=False 即可免去。',
  },
};

export const connectActions: typeof english.connectActions = {
  'connect.apply': () => '修改了某个程序的配置文件',
  'connect.undo': () => '撤销了对某个程序配置文件的修改',
};
