export const startTexts = {
  insecure:
    'The backend needs a secure connection. Open it over https, or as http://localhost on the machine that runs the server.',
  failed: 'Signing in failed.',
  noScopes: 'Your account has no access to the backend.',
  noScopesHint: 'Ask an administrator to grant you the scope backend.read, or sign in with another account.',
  signIn: 'Sign in',
  other: 'Use another account',
  window: 'You are signed in. You can close this window.',
  problem: 'Cannot open the backend',
} as const

export const signInTexts = {
  expired: 'Your session has expired',
  expiredText: 'Sign in again to continue. Nothing on this page is lost.',
  ended: 'You are signed out',
  endedText:
    'You signed out in another window, or your access has ended. Sign in again to continue. What you typed is kept.',
  password: 'Enter your password again',
  passwordText:
    'This change needs a password that was entered within the last 15 minutes. Nothing on this page is lost.',
  button: 'Sign in',
  waiting: 'Waiting for the sign-in window…',
  blocked: 'The browser blocked the window. Allow windows for this site and try again.',
  cancelled: 'Not sent: you are not signed in.',
} as const
