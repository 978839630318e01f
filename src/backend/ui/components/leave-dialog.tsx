import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { strings } from '../strings.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

interface LeaveDialogProps {
  readonly hasChanges: boolean
  /** Whether they are being saved, also before the next render. */
  readonly isSaving?: { readonly current: boolean }
  /** Whether leaving waits for a save, and asks only if changes are left. */
  readonly isWaiting?: boolean
}

/** Asks before another page is opened while there are unsaved changes. */
export function LeaveDialog({ hasChanges, isSaving, isWaiting = false }: LeaveDialogProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      hasChanges && isSaving?.current !== true && current.pathname !== next.pathname,
    enableBeforeUnload: () => hasChanges,
    withResolver: true,
  })
  const isBlocked = blocker.status === 'blocked'
  useEffect(() => {
    if (isBlocked && !hasChanges) blocker.proceed()
  }, [isBlocked, hasChanges])
  if (!isBlocked || !hasChanges || isWaiting) return null
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
