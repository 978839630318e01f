import { Dialog } from './dialog.tsx'
import { SaveForm, type SaveFormProps } from './save-form.tsx'

interface FormDialogProps extends Omit<SaveFormProps, 'onCancel'> {
  readonly title: string
  /** The width in pixels. */
  readonly size?: number
  onClose(): void
}

/** A form in a dialog, for example for a new thing. Render it only while it is open. */
export function FormDialog({ title, size, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} {...(size !== undefined && { size })} onClose={onClose}>
      <SaveForm {...form} onCancel={onClose} />
    </Dialog>
  )
}
