import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { strings } from '../strings.ts'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'

interface SecretOnceProps {
  readonly title: string
  /** The values to copy, by their name: `{ 'Client ID': '…', 'Client secret': '…' }`. */
  readonly values: Readonly<Record<string, string>>
  /** What to do with them, for example a curl command. */
  readonly children?: ReactNode
  onClose(): void
}

/** Shows a secret that the server does not show again. Closes only by its button. */
export function SecretOnce({ title, values, children, onClose }: SecretOnceProps) {
  return (
    <Dialog title={title} size={520} isModalOnly onClose={onClose}>
      <div className="stack">
        <p>{strings.secret.once}</p>
        <dl className="secret">
          {Object.entries(values).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code>{value}</code>
                <CopyButton value={value} label={name} />
              </dd>
            </div>
          ))}
        </dl>
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            {strings.secret.done}
          </Button>
        </Group>
      </div>
    </Dialog>
  )
}
