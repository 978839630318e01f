import { ActionIcon, Tooltip } from '@mantine/core'
import { Check, Copy, TriangleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { announce } from './announce.tsx'

const texts = {
  copy: 'Copy',
  copied: 'Copied',
  copyOf: (what: string) => `Copy ${what}`,
  copiedOf: (what: string) => `${what} copied`,
  denied: 'The browser did not allow copying. The text is selected: copy it with the keyboard.',
  whole: 'The whole text',
} as const

const copiedMs = 1500

interface CopyButtonProps {
  readonly value: string
  readonly label?: string
  /** Whether it has the focus when its dialog opens. */
  readonly isFirst?: boolean
}

/** A small button that copies a text. If the browser denies that, the text is selected, and the page says so. */
export function CopyButton({ value, label, isFirst = false }: CopyButtonProps) {
  const [state, setState] = useState<'copied' | 'denied'>()
  const [isShown, setShown] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (state !== 'copied') return undefined
    const timer = setTimeout(() => setState(undefined), copiedMs)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value) // absent on origins without TLS
      setState('copied')
      announce(label === undefined ? texts.copied : texts.copiedOf(label))
    } catch {
      const text = findText(button.current, value)
      if (text !== undefined) getSelection()?.selectAllChildren(text)
      setShown(text === undefined)
      setState('denied')
      announce(texts.denied)
    }
  }
  const action = label === undefined ? texts.copy : texts.copyOf(label)
  const name = state === undefined ? action : texts[state]
  return (
    <>
      <Tooltip label={name}>
        <ActionIcon
          ref={button}
          className="copy-button"
          data-denied={state === 'denied' || undefined}
          data-autofocus={isFirst || undefined}
          size={24}
          aria-label={state === 'copied' ? texts.copied : action}
          onClick={() => void copy()}
          onBlur={() => !isShown && setState(undefined)}
        >
          {state === undefined ? <Copy size={13} aria-hidden /> : null}
          {state === 'copied' ? <Check size={13} aria-hidden /> : null}
          {state === 'denied' ? <TriangleAlert size={13} aria-hidden /> : null}
        </ActionIcon>
      </Tooltip>
      {isShown && state === 'denied' ? (
        // What the page shows is shortened.
        <input
          className="copy-whole mono"
          aria-label={label ?? texts.whole}
          readOnly
          autoFocus
          value={value}
          onFocus={(event) => event.currentTarget.select()}
          onBlur={() => {
            setShown(false)
            setState(undefined)
          }}
        />
      ) : null}
    </>
  )
}

const maxOuter = 3

/** The element near the button that shows exactly the text. */
function findText(button: HTMLElement | null, value: string): Element | undefined {
  let around = button?.parentElement
  for (let outer = 0; outer < maxOuter && around !== null && around !== undefined; outer += 1) {
    const found = [...around.querySelectorAll('*')].find((one) => one.textContent === value)
    if (found !== undefined) return found
    around = around.parentElement
  }
  return undefined
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
export function CommandHint({ command, label = 'Same as' }: CommandHintProps) {
  return (
    <p className="command">
      <span className="soft">{label}</span>{' '}
      <code translate="no">
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
      <pre translate="no">{code}</pre>
      <CopyButton value={code} label={label} />
    </div>
  )
}

/** A value as JSON, with a name for screen readers. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <pre translate="no" className="code" tabIndex={0} role="region" aria-label={label} dir="ltr">
      {JSON.stringify(value, null, 2)}
    </pre>
  )
}
