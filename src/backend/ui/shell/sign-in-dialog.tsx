import { Button, Group, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { cancelAsking, openSignIn, signInRequest, type SignInReason } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { confirmTexts } from '../components/dialog-texts.ts'
import { signInTexts as texts } from '../session/sign-in-texts.ts'

/** Asks the user to sign in again, over the page, which stays as it is. */
export function SignInDialog() {
  const reason = useStore(signInRequest)
  return reason === undefined ? null : <SignIn reason={reason} />
}

function SignIn({ reason }: { readonly reason: SignInReason }) {
  const [state, setState] = useState<{ readonly isWaiting: boolean; readonly problem?: string }>({ isWaiting: false })
  const stop = useRef<() => void>(undefined)
  useEffect(() => () => stop.current?.(), [])
  const open = () => {
    stop.current?.()
    setState({ isWaiting: true })
    stop.current = openSignIn(reason, (problem) => setState({ isWaiting: false, problem }))
  }
  const hidesPage = reason === 'ended' // someone else may be at the screen now
  return (
    <Dialog title={texts[reason]} isTop hidesPage={hidesPage} onClose={cancelAsking}>
      <Text>{texts[`${reason}Text`]}</Text>
      <Text role="status" c={state.problem === undefined ? 'dimmed' : 'error'} mt="xs" mih={20}>
        {state.problem ?? (state.isWaiting ? texts.waiting : '')}
      </Text>
      <Group justify="flex-end" mt="md" gap="xs">
        {hidesPage ? null : (
          <Button variant="default" onClick={cancelAsking}>
            {confirmTexts.cancel}
          </Button>
        )}
        <Button onClick={open} data-autofocus>
          {texts.button}
        </Button>
      </Group>
    </Dialog>
  )
}
