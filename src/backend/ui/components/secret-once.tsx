import { Button, Group } from '@mantine/core'
import { useRef, type ReactNode } from 'react'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { LeaveDialog } from './leave-dialog.tsx'

const secretTexts = {
  once: 'Copy it now. It is not shown again.',
  show: 'Show',
  hide: 'Hide',
  done: 'Done',
  leave: { title: 'Leave this page?', text: 'What this window shows is not shown again. Copy it first.' },
} as const

interface SecretOnceProps {
  readonly title: string
  /** The values to copy, by their name: `{ 'Client ID': '…', 'Client secret': '…' }`. */
  readonly values: Readonly<Record<string, string>>
  /** What to do with them, for example a curl command. */
  readonly children?: ReactNode
  onClose(): void
}

/** Shows a secret that the server does not show again. Closes only by its button; leaving the page asks first. */
export function SecretOnce({ title, values, children, onClose }: SecretOnceProps) {
  const isDone = useRef(false)
  const close = () => {
    isDone.current = true // closing may open another page
    onClose()
  }
  return (
    <Dialog title={title} size={520} isModalOnly onClose={close}>
      <div className="stack">
        <p>{secretTexts.once}</p>
        <dl className="secret">
          {Object.entries(values).map(([name, value], index) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code translate="no">{value}</code>
                {/* The focus is here and not on Done, so that one Enter too many does not lose the secret. */}
                <CopyButton value={value} label={name} isFirst={index === 0} />
              </dd>
            </div>
          ))}
        </dl>
        {children}
        <Group justify="flex-end">
          <Button onClick={close}>{secretTexts.done}</Button>
        </Group>
      </div>
      <LeaveDialog texts={secretTexts.leave} hasChanges isSaving={isDone} />
    </Dialog>
  )
}
