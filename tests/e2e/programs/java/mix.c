/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The native method of Mix.java: calls back into Java. */

#include <jni.h>

JNIEXPORT jint JNICALL Java_Mix_callBack(JNIEnv *env, jclass self, jobject operator, jint value)
{
	jclass class = (*env)->GetObjectClass(env, operator);
	jmethodID method = (*env)->GetMethodID(env, class, "applyAsInt", "(I)I");

	return (*env)->CallIntMethod(env, operator, method, value);
}
