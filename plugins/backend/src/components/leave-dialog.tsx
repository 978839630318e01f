import { useBlocker } from '@tanstack/react-router'
import { strings } from '../strings.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

/** Asks before another page is opened while there are unsaved changes. */
export function LeaveDialog({ hasChanges }: { readonly hasChanges: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => hasChanges && current.pathname !== next.pathname,
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
