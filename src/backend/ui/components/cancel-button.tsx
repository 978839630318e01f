import { Button } from '@mantine/core'
import { useIsEnlarged } from './use-is-enlarged.ts'

interface CancelButtonProps {
  readonly children: string
  onClick(): void
}

/** The first button below a question: it has the focus, except where it may be out of sight. There, reading begins at the top. */
export function CancelButton({ children, onClick }: CancelButtonProps) {
  return (
    <Button variant="default" onClick={onClick} data-autofocus={useIsEnlarged() ? undefined : true}>
      {children}
    </Button>
  )
}
