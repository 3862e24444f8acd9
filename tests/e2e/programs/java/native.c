/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The native methods of Mix.java and Oracle.java: they call back into Java, or are probed. */

#include <jni.h>

static jint call_back(JNIEnv *env, jobject operator, jint value)
{
	jclass class = (*env)->GetObjectClass(env, operator);
	jmethodID method = (*env)->GetMethodID(env, class, "applyAsInt", "(I)I");

	return (*env)->CallIntMethod(env, operator, method, value);
}

JNIEXPORT jint JNICALL Java_Mix_callBack(JNIEnv *env, jclass self, jobject operator, jint value)
{
	return call_back(env, operator, value);
}

JNIEXPORT jint JNICALL Java_Oracle_callBack(JNIEnv *env, jclass self, jobject operator, jint value)
{
	return call_back(env, operator, value);
}

JNIEXPORT void JNICALL Java_Oracle_marker(JNIEnv *env, jclass self)
{
}

JNIEXPORT void JNICALL Java_Unloading_mark(JNIEnv *env, jclass self)
{
}
