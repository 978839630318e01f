import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { strings } from '../strings.ts'

interface DialogProps {
  readonly title: string
  readonly children: ReactNode
  readonly size?: number | string
  /** Whether only its buttons close it, because what it shows cannot be shown again. */
  readonly isModalOnly?: boolean
  /** Whether it is over other dialogs. */
  readonly isTop?: boolean
  onClose(): void
}

/** A dialog over the page. Render it only while it is open. Unlike that of `Modal`, its title is not a landmark. */
export function Dialog({ title, children, size = 440, isModalOnly = false, isTop = false, onClose }: DialogProps) {
  return (
    <Modal.Root
      opened
      onClose={onClose}
      size={size}
      yOffset="8vh"
      closeOnClickOutside={!isModalOnly && !isTop}
      closeOnEscape={!isModalOnly}
      zIndex={isTop ? 400 : 200}
    >
      <Modal.Overlay />
      <Modal.Content>
        <div className="dialog-header">
          <Modal.Title>{title}</Modal.Title>
          {isModalOnly ? null : <Modal.CloseButton aria-label={strings.confirm.close} />}
        </div>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
