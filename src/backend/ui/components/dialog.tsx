import { Button, Drawer, Group, Modal } from '@mantine/core'
import { createContext, useMemo, useRef, useState, type ReactNode } from 'react'
import { signInRequest } from '../session/session.ts'
import { useFocusReturn } from './use-focus-return.ts'
import { confirmTexts } from './dialog-texts.ts'

const discard = {
  title: 'Discard what you entered?',
  text: 'Your input is lost if you close this window.',
  action: 'Discard',
  stay: 'Keep editing',
} as const

interface DialogProps {
  readonly title: string
  readonly children: ReactNode
  readonly size?: number | string
  /** Whether only its buttons close it, because what it shows cannot be shown again. */
  readonly isModalOnly?: boolean
  /** Whether it is over other dialogs. */
  readonly isTop?: boolean
  /** Whether nothing else can be seen, and only its buttons close it. */
  readonly hidesPage?: boolean
  /** Whether it is at the right edge of the window, beside what it is about. */
  readonly isSide?: boolean
  onClose(): void
}

interface DialogForm {
  /** Tells the dialog whether closing it would lose input. */
  setChanges(hasChanges: boolean): void
  /** Closes the dialog, after a question if that would lose input. */
  close(): void
}

/** The dialog around a form. */
export const DialogContext = createContext<DialogForm | undefined>(undefined)

/** A dialog over the page. Render it only while it is open. Unlike that of `Modal`, its title is not a landmark. */
export function Dialog({ title, children, size = 440, isTop = false, onClose, ...props }: DialogProps) {
  const { hidesPage = false, isModalOnly = hidesPage, isSide = false } = props
  const Part = isSide ? Drawer : Modal
  useFocusReturn()
  const hasChanges = useRef(false)
  const [isAsking, setAsking] = useState(false)
  const close = () => {
    if (isAsking || (!isTop && signInRequest.get() !== undefined)) return // Escape reaches all dialogs
    if (hasChanges.current) setAsking(true)
    else onClose()
  }
  const latest = useRef(close)
  latest.current = close
  const form = useMemo(
    (): DialogForm => ({
      setChanges: (value) => void (hasChanges.current = value),
      close: () => latest.current(),
    }),
    [],
  )
  return (
    <Part.Root
      opened
      onClose={close}
      size={size}
      {...(isSide ? { position: 'right' as const } : { yOffset: '8vh' })}
      closeOnClickOutside={!isModalOnly && !isTop}
      closeOnEscape={!isModalOnly}
      zIndex={isTop ? 400 : 200}
    >
      <Part.Overlay {...(hidesPage ? { color: 'var(--mantine-color-body)', backgroundOpacity: 1 } : {})} />
      <Part.Content>
        <div className="dialog-header">
          <Part.Title>{title}</Part.Title>
          {isModalOnly ? null : <Part.CloseButton aria-label={confirmTexts.close} />}
        </div>
        <Part.Body>
          <DialogContext value={form}>{children}</DialogContext>
        </Part.Body>
      </Part.Content>
      {isAsking ? (
        <Dialog title={discard.title} isTop onClose={() => setAsking(false)}>
          <div className="stack">
            <p>{discard.text}</p>
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={() => setAsking(false)} data-autofocus>
                {discard.stay}
              </Button>
              <Button color="red.6" onClick={onClose}>
                {discard.action}
              </Button>
            </Group>
          </div>
        </Dialog>
      ) : null}
    </Part.Root>
  )
}
