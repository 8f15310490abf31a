/** The files by which systemd (Linux) and launchd (macOS) run Sluice for a user. */

/** A command line. The first item is the path of a program. */
type CommandLine = readonly string[];

export const unitName = 'sluice.service';
export const agentLabel = 'dev.sluice.gateway';

/** A systemd user unit (systemd.service(5)). Exit codes 2 and 3 are for mistakes that another start would repeat. */
export function systemdUnit(command: CommandLine): string {
  return `[Unit]
Description=Sluice, one local address for AI tools and providers
After=network-online.target

[Service]
Type=exec
ExecStart=${command.map(quoteForSystemd).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 3
TimeoutStopSec=20
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`;
}

/** In systemd's quoting, `%` begins a specifier and `$` a variable. */
function quoteForSystemd(text: string): string {
  const escaped = text.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`);
  return `"${escaped.replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
}

/**
 * A launchd agent (launchd.plist(5)), started at login and again after a failure.
 *
 * @param logPath the file to which stderr is written
 */
export function launchAgent(command: CommandLine, logPath: string): string {
  const parameters = command.map((each) => `    <string>${escapeXml(each)}</string>`).join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${agentLabel}</string>
  <key>ProgramArguments</key>
  <array>
${parameters}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>StandardErrorPath</key>
  <string>${escapeXml(logPath)}</string>
</dict>
</plist>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
