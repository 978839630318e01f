import { Button, Group } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { CancelButton } from './cancel-button.tsx'
import { CommandHint } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { ProblemAlert } from './problem.tsx'
import { confirmTexts } from './dialog-texts.ts'

interface ConfirmDialogProps {
  /** What is about to happen, as a question: "Disable ann?". */
  readonly title: string
  /** The name of the action, on its button: "Disable ann". */
  readonly action: string
  /** What will happen, and to how many. */
  readonly children: ReactNode
  /** The command that does the same. */
  readonly command?: string
  /** Whether the action takes something away. */
  readonly isDanger?: boolean
  /** Whether there is nothing to do. */
  readonly isDisabled?: boolean
  /** Does it. The dialog stays open if it fails, and shows why. */
  onConfirm(): Promise<unknown>
  onClose(): void
}

/** Asks before an action with consequences. Render it only while it is open. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, action, children, command, isDanger, isDisabled = false, onConfirm, onClose } = props
  const confirming = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="stack">
        <div>{children}</div>
        {command === undefined ? null : <CommandHint command={command} />}
        {confirming.isError ? <ProblemAlert error={confirming.error} /> : null}
        <Group justify="flex-end" gap="xs" className="form-actions">
          <CancelButton onClick={onClose}>{confirmTexts.cancel}</CancelButton>
          <Button
            {...(isDanger === true ? { color: 'red.6' } : {})}
            loading={confirming.isPending}
            disabled={isDisabled}
            onClick={() => confirming.mutate()}
          >
            {action}
          </Button>
        </Group>
      </div>
    </Dialog>
  )
}
