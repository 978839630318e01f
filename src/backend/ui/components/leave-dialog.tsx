import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ConfirmDialog } from './confirm-dialog.tsx'

const leaveTexts = {
  title: 'Leave without saving?',
  text: 'The changes on this page are not saved. They are lost if you leave.',
  action: 'Leave page',
} as const

interface LeaveDialogProps {
  /** What would be lost, if not changes. */
  readonly texts?: { readonly title: string; readonly text: string }
  readonly hasChanges: boolean
  /** Whether they are being saved, also before the next render. */
  readonly isSaving?: { readonly current: boolean }
  /** Whether leaving waits for a save, and asks only if changes are left. */
  readonly isWaiting?: boolean
}

/** Asks before another page is opened while there are unsaved changes. */
export function LeaveDialog({ texts = leaveTexts, hasChanges, isSaving, isWaiting = false }: LeaveDialogProps) {
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
      title={texts.title}
      action={leaveTexts.action}
      isDanger
      onConfirm={async () => blocker.proceed()}
      onClose={blocker.reset}
    >
      {texts.text}
    </ConfirmDialog>
  )
}
