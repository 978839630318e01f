import { useBlocker } from '@tanstack/react-router'
import { strings } from '../strings.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

interface LeaveDialogProps {
  readonly hasChanges: boolean
  /** Whether they are being saved, also before the next render. */
  readonly isSaving?: { readonly current: boolean }
}

/** Asks before another page is opened while there are unsaved changes. */
export function LeaveDialog({ hasChanges, isSaving }: LeaveDialogProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      hasChanges && isSaving?.current !== true && current.pathname !== next.pathname,
    enableBeforeUnload: () => hasChanges,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <ConfirmDialog
      title={strings.leave.title}
      action={strings.leave.action}
      isDanger
      onConfirm={async () => blocker.proceed()}
      onClose={blocker.reset}
    >
      {strings.leave.text}
    </ConfirmDialog>
  )
}
