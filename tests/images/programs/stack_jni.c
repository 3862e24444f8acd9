/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The native methods of Stack.java. */

#include <jni.h>
#include <signal.h>

JNIEXPORT void JNICALL Java_Stack_stop(JNIEnv *env, jclass self, jint n)
{
	if (n >= 0)
		return;
	(*env)->CallStaticVoidMethod(env, self, (*env)->GetStaticMethodID(env, self, "say", "()V"));
	raise(SIGSTOP);
}

JNIEXPORT jint JNICALL Java_Stack_callBack(JNIEnv *env, jclass self, jobject operator, jint value)
{
	jclass class = (*env)->GetObjectClass(env, operator);
	jmethodID method = (*env)->GetMethodID(env, class, "applyAsInt", "(I)I");

	return (*env)->CallIntMethod(env, operator, method, value);
}
