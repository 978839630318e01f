import { ActionIcon, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Check, Copy } from 'lucide-react'
import { strings } from '../strings.ts'

/** A small button that copies a text. */
export function CopyButton({ value, label }: { readonly value: string; readonly label?: string }) {
  const { copied, copy } = useClipboard({ timeout: 1500 })
  const name = copied ? strings.copy.copied : label === undefined ? strings.copy.copy : strings.copy.copyOf(label)
  return (
    <Tooltip label={name}>
      <ActionIcon className="copy-button" size={24} aria-label={name} onClick={() => copy(value)}>
        {copied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  )
}

interface CopyTextProps {
  readonly value: string
  /** What is shown, for example a shortened id. */
  readonly children?: string
  /** For ids and code. */
  readonly isMono?: boolean
  /** What the value is, for screen readers: "Client ID". */
  readonly label?: string
}

/** A text with a copy button that appears while the mouse or the keyboard is on it. */
export function CopyText({ value, children = value, isMono = false, label }: CopyTextProps) {
  return (
    <span className={isMono ? 'copy mono' : 'copy'}>
      <span dir="auto" className="copy-text">
        {children}
      </span>
      <CopyButton value={value} {...(label === undefined ? {} : { label })} />
    </span>
  )
}

interface CommandHintProps {
  readonly command: string
  readonly label?: string
}

/** The command that does the same, for scripts and for learning the command line. */
export function CommandHint({ command, label = strings.command }: CommandHintProps) {
  return (
    <p className="command">
      <span className="soft">{label}</span>{' '}
      <code>
        {/* Lines do not break within flags. */}
        {command.split(/(?<!\S)(-\S+)/).map((part, index) =>
          index % 2 === 0 ? (
            part
          ) : (
            <span key={index} className="nowrap">
              {part}
            </span>
          ),
        )}
      </code>
      <CopyButton value={command} />
    </p>
  )
}

/** Code of several lines, with a button that copies it. */
export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <div className="code">
      <pre>{code}</pre>
      <CopyButton value={code} label={label} />
    </div>
  )
}

/** A value as JSON, with a name for screen readers. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <pre className="code" tabIndex={0} role="region" aria-label={label} dir="ltr">
      {JSON.stringify(value, null, 2)}
    </pre>
  )
}
